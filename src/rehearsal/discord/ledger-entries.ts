import type { WaitOptions } from '../ledger.ts'
import { Ledger } from '../ledger.ts'
import type { UploadedFile } from '../uploads.ts'
import type { ApiMessage } from './api-types.ts'

/** One REST call, recorded when its effect (or refusal) stands, before the first byte of the answer. */
export interface CallEntry {
  readonly kind: 'call'
  readonly at: number
  /** The name of the route, such as `createMessage`. */
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly files?: readonly UploadedFile[]
  /** The server's answer, or the one without the fault; absent when the fault came before the effect. */
  readonly status?: number
  readonly answer?: unknown
  /** The kind of the fault the call met. */
  readonly fault?: string
}

/** A change of a message, by a person or by the bot. */
export interface MessageEntry {
  readonly kind: 'message'
  readonly at: number
  readonly change: 'sent' | 'edited' | 'deleted'
  readonly byBot: boolean
  readonly channelId: string
  readonly messageId: string
  readonly text: string
  readonly message: ApiMessage
}

/** A create with the nonce of an earlier one: nothing was made, the first message was returned. */
export interface RepeatedEntry {
  readonly kind: 'repeated'
  readonly at: number
  readonly nonce: string
  readonly messageId: string
}

/**
 * A text that the bot showed to one person alone, in answer to a slash command; `deferred` is the notice that an answer
 * follows.
 */
export interface WhisperEntry {
  readonly kind: 'whisper'
  readonly at: number
  readonly change: 'deferred' | 'sent' | 'edited' | 'deleted'
  readonly interactionId: string
  readonly userId: string
  readonly channelId: string
  readonly messageId: string
  readonly text: string
}

/** An event on the gateway, from the server's side. */
export interface GatewayEntry {
  readonly kind: 'gateway'
  readonly at: number
  readonly event: 'connected' | 'identified' | 'ready' | 'resumed' | 'refused' | 'heartbeat' | 'closed' | 'unanswered'
  readonly sessionId?: string
  /** The close code, also of a refusal. */
  readonly code?: number
  /** The question, for the event `unanswered`. */
  readonly question?: 'hello' | 'identify' | 'guilds' | 'resume'
  /** The connection's number, counted up from 1, for `ready` and `resumed`. */
  readonly connection?: number
}

/** A dispatch that was numbered in a session; `live` if a connection was there to carry it. */
export interface DispatchEntry {
  readonly kind: 'dispatch'
  readonly at: number
  readonly sessionId: string
  readonly seq: number
  readonly type: string
  readonly live: boolean
  readonly data: unknown
}

/** A request for something the server does not rehearse. */
export interface UnrehearsedEntry {
  readonly kind: 'unrehearsed'
  readonly at: number
  readonly what: string
}

export type DiscordEntry =
  | CallEntry
  | MessageEntry
  | WhisperEntry
  | RepeatedEntry
  | GatewayEntry
  | DispatchEntry
  | UnrehearsedEntry

/** The ledger of a Discord rehearsal, with the waits tests need most. */
export class DiscordLedger extends Ledger<DiscordEntry> {
  constructor() {
    super(describeEntry)
  }

  calls(method: string, after?: number): CallEntry[] {
    return this.all(isCall(method), after)
  }

  /** Waits for a call of `method`; it resolves once the effect stands, even while its answer is held back. */
  nextCall(method: string, options?: WaitOptions): Promise<CallEntry> {
    return this.next(isCall(method), options)
  }

  /** Waits for a message that the bot sent, edited or deleted. */
  nextFromBot(
    change: MessageEntry['change'],
    options?: WaitOptions & { where?: (entry: MessageEntry) => boolean },
  ): Promise<MessageEntry> {
    const where = options?.where
    const match = (entry: DiscordEntry): entry is MessageEntry =>
      entry.kind === 'message' && entry.byBot && entry.change === change && (where === undefined || where(entry))
    return this.next(match, options)
  }

  /** Returns the texts that were shown to people alone, oldest first. */
  whispers(after?: number): WhisperEntry[] {
    return this.all((entry): entry is WhisperEntry => entry.kind === 'whisper', after)
  }

  nextWhisper(change: WhisperEntry['change'], options?: WaitOptions): Promise<WhisperEntry> {
    return this.next((entry): entry is WhisperEntry => entry.kind === 'whisper' && entry.change === change, options)
  }

  nextGateway(event: GatewayEntry['event'], options?: WaitOptions): Promise<GatewayEntry> {
    return this.next((entry): entry is GatewayEntry => entry.kind === 'gateway' && entry.event === event, options)
  }

  /** Waits until the bot has identified and received its guilds, or has resumed. */
  async listening(options?: WaitOptions): Promise<void> {
    await this.next(
      (entry) => entry.kind === 'gateway' && (entry.event === 'ready' || entry.event === 'resumed'),
      options,
    )
  }
}

function isCall(method: string): (entry: DiscordEntry) => entry is CallEntry {
  return (entry): entry is CallEntry => entry.kind === 'call' && entry.method === method
}

function describeEntry(entry: DiscordEntry): string {
  switch (entry.kind) {
    case 'call':
      return `call ${entry.method} ${entry.status ?? 'without effect'}${entry.fault === undefined ? '' : ` [fault: ${entry.fault}]`} ${shorten(JSON.stringify(entry.body))}`
    case 'message':
      return `message ${entry.change} by ${entry.byBot ? 'the bot' : 'a person'} in ${entry.channelId} #${entry.messageId}: ${shorten(entry.text)}`
    case 'whisper':
      return `whisper ${entry.change} to ${entry.userId} in ${entry.channelId}: ${shorten(entry.text)}`
    case 'repeated':
      return `message ${entry.messageId} given back for nonce ${entry.nonce}`
    case 'gateway':
      return `gateway ${entry.event}${entry.code === undefined ? '' : ` ${entry.code}`} ${entry.sessionId ?? ''}`
    case 'dispatch':
      return `dispatch ${entry.seq} ${entry.type}${entry.live ? '' : ' (kept for a resume)'}`
    case 'unrehearsed':
      return `not rehearsed: ${entry.what}`
  }
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
