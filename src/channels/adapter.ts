import type { Address } from '../core/address.ts'
import type { ChannelTraits } from '../core/channel-traits.ts'
import type { ChannelId } from '../core/ids.ts'
import type { InboundEvent } from '../core/message.ts'
import type { MessageLookup } from '../core/message-link.ts'
import type { DeliveryReceipt, RenderedPart } from '../core/outbound.ts'
import type { OwnerNotice } from '../core/owner-notice.ts'
import type { AccountSettings, BotIdentity, ChannelSetup } from './setup.ts'

export type { RenderedPart } from '../core/outbound.ts'
export type { AccountSettings, AdapterServices, BotIdentity } from './setup.ts'

/**
 * The seam: the small interface every platform implements. What only some platforms can do is a capability interface
 * in `capabilities.ts`; the daemon asks whether an adapter has it.
 */
export interface ChannelAdapter {
  readonly id: ChannelId
  /**
   * Connects and resolves once messages can arrive. Rejects with `ChannelDown` when it cannot: the hub keeps the
   * reason, waits and calls `start` again, for ever. After it resolved, the adapter mends lost connections by itself
   * and reports them by `health`. Every event goes to `sink.accept`; an event is acknowledged to the platform only
   * after that resolved. `signal` ends the start and everything it began.
   */
  start(sink: ChannelSink, signal: AbortSignal): Promise<void>
  /** Idempotent. Awaits calls in flight or abandons them within 5 s; afterwards `sink` is never called. */
  stop(): Promise<void>
  /**
   * Sends one part. Never throws and never retries: the receipt says which of the four classes it was. `signal` is that
   * of many sends; who listens to it takes the listener off again.
   */
  send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt>
  health(): ChannelHealth
}

/** One message on its way out. */
export interface OutboundPart {
  readonly address: Address
  readonly rendered: RenderedPart
  /** Stable over attempts and restarts, 25 characters: nonce or metadata where the platform has one. */
  readonly key: string
  readonly replyTo?: string
}

/** Receives an adapter's events, and keeps the little that it must remember. */
export interface ChannelSink {
  /**
   * Resolves after the commit of event and position; only then acknowledge. Rejects when it could not be stored: do not
   * acknowledge, the platform will repeat. A repeated `eventKey` resolves and does nothing. `payload`: all that people
   * could read of it in a place with others, of which the event has a part; as in `unknown`.
   */
  accept(event: InboundEvent, position?: ChannelCursor, payload?: unknown): Promise<void>
  /**
   * Counts what was received and not understood, so that nothing vanishes unseen; a copy of what the bot said itself
   * (`own_message`) is understood, and not counted. `payload`: what of it people could read in a place with others, as
   * it came; nothing is kept of it, but a one-time code that stands in it is worth nothing any more.
   */
  unknown(kind: string, payload?: unknown): void
  /** Notifies owners in private of what only a person can mend: once a day, however often it is called. */
  notifyOwners(notice: OwnerNotice): void
  readonly state: ChannelState
}

/** A small durable fact committed with an event, e.g. a per-channel read position. */
export interface ChannelCursor {
  readonly key: string
  readonly value: string
}

/** Small durable key-value memory of one account: cursors, hashes of registered commands. */
export interface ChannelState {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  /** Does nothing for a key that is not there. */
  delete(key: string): Promise<void>
}

export interface ChannelHealth {
  /** `down` carries the reason and the remedy as one line for the operator. */
  readonly status: 'starting' | 'up' | 'down'
  readonly detail?: string
  /**
   * Ms since the epoch of the last proof of receipt: an event, or the answer to a question of ours; never a heartbeat.
   */
  readonly lastProofAt?: number
  /** The last trouble that kept it from receiving, kept after it was mended; ms since the epoch. */
  readonly lastTrouble?: Trouble
  /** The transport in words for people: `by polling`. */
  readonly receives?: string
  /** The bot's own name on the platform, once known. */
  readonly identity?: BotIdentity
  /** Lines an operator should read at start: privacy mode, missing intents. */
  readonly hints?: readonly string[]
}

export interface Trouble {
  readonly detail: string
  readonly at: number
}

/**
 * Pure: Markdown to parts within the platform's limits, loadable while the channel is down. Empty input gives no part;
 * the visible text of the parts joined is the visible text of the source.
 */
export interface TextFormat {
  /** UTF-16 units of visible text a part may have. */
  readonly limit: number
  /** Those of a caption; absent: as many as a part. */
  readonly captionLimit?: number
  split(markdown: string): readonly RenderedPart[]
}

/** A channel that cannot come up. `permanent`: trying soon is useless until somebody mends it (wrong token). */
export class ChannelDown extends Error {
  override readonly name = 'ChannelDown'
  readonly permanent: boolean

  constructor(message: string, options: { permanent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.permanent = options.permanent
  }
}

/** The settings that every account block has; the numbers are the platform's own unless set. */
export interface CommonAccountConfig {
  /** Show an answer while it is being written. */
  readonly streaming: boolean
  readonly limits: { readonly perSecond: number; readonly perChatPerSecond: number; readonly perGroupPerMinute: number }
}

/**
 * A platform's entry in `adapters/index.ts`: its traits and look-up, and its format, setup and factory, which are
 * loaded on demand.
 */
export interface ChannelPlugin<Config> {
  readonly id: ChannelId
  readonly traits: ChannelTraits
  readonly lookup: MessageLookup
  loadFormat(): Promise<TextFormat>
  /** Loads what a person needs before an account works, and its examination. */
  loadSetup(): Promise<ChannelSetup<Config>>
  create(account: AccountSettings<Config>): Promise<ChannelAdapter>
}
