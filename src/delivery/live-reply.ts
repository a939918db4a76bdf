import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import { deletesMessages, editsMessages } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import { sleep } from '../core/clock.ts'
import type { ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { DeliveryReceipt, RenderedPart } from '../core/outbound.ts'
import { visibleWhileStreaming } from '../core/silence.ts'
import type { Activity } from './activity.ts'
import {
  createGrowingMessage,
  type Editor,
  type GrowingMessage,
  type LiveTurn,
  type MessageDeps,
} from './growing-message.ts'
import { rankOf } from './low-priority.ts'
import type { Speaker, SpeakerVerdict } from './plan-reply.ts'
import type { Queues } from './queues.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Ticker, Ticking } from './ticker.ts'

export interface LiveReply {
  /** Receives the whole text so far, raw: markers are held back here (S31). Cheap; never throws. */
  push(this: void, text: string): void
  /** Shows in one line what is done meanwhile, below the text so far, until the text grows; empty shows none. */
  working(this: void, doing: string): void
  /**
   * Ends the reply and resolves once no call of it is in flight, so that the final edit is the last.
   */
  settle(): Promise<void>
  /**
   * Returns the text so far without markers, if a part of it stands in the chat; empty if nothing stands there but the
   * line of `working`. Called once the reply is settled.
   */
  shown(): string | undefined
}

export interface LiveDeps extends MessageDeps {
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly queues: Queues
  readonly ticker: Ticker
  readonly activity: Activity
  format(channel: ChannelId): TextFormat
  adapter(address: Address): ChannelAdapter | undefined
  /** Returns true if the account shows answers while they are written. */
  streams(address: Address): boolean
  sendAllowed(message: Speaker): SpeakerVerdict
}

/** The slots of chat and group an edit must leave free, so that the final answer never waits for its own preview. */
const LEAVE_SLOTS = 2
/** The shortest time between renderings; rendering at every delta would cost more than it shows. */
const LOOK_AGAIN_MS = 250
/** The source characters rendered for each visible character of a part: enough for any markup, and bounded. */
const RENDER_FACTOR = 4

export function startLiveReply(deps: LiveDeps, turn: LiveTurn): LiveReply {
  return new GrowingReply(deps, turn)
}

/**
 * A reply that is shown while it grows. The edits have no rows and are dropped, not queued, when the limiter has no
 * slot. The first call that fails ends the growth, and `planRows` finishes the answer. There is one for each turn, and
 * most end before anything is shown.
 */
class GrowingReply implements LiveReply, Ticking {
  readonly #deps: LiveDeps
  readonly #turn: LiveTurn
  #message: GrowingMessage | undefined
  #nextAt: number
  #text = ''
  #doing = ''
  #looked = false
  #over = false
  #ticking = false
  #inFlight: Promise<void> | undefined

  constructor(deps: LiveDeps, turn: LiveTurn) {
    this.#deps = deps
    this.#turn = turn
    this.#nextAt = deps.clock.elapsed() + deps.settings.liveAfterMs
  }

  readonly push = (whole: string): void => {
    this.#text = whole
    if (whole !== '') this.#doing = ''
    this.#look()
  }

  readonly working = (doing: string): void => {
    this.#doing = doing
    this.#look()
  }

  /** Shows what there is by now, at once if it is time, else later. */
  #look(): void {
    if (this.#over) return
    if (!this.#ticking) this.#deps.ticker.add(this)
    this.#ticking = true
    if (this.#deps.clock.elapsed() >= this.#nextAt) this.tick()
  }

  async settle(): Promise<void> {
    this.#over = true
    if (this.#ticking) this.#deps.ticker.remove(this)
    if (this.#inFlight !== undefined) await this.#landed(this.#inFlight)
  }

  shown(): string | undefined {
    if (!this.#message?.stands) return undefined
    return visibleWhileStreaming(this.#text).trimEnd()
  }

  tick(): void {
    const { clock, activity } = this.#deps
    if (this.#over || this.#inFlight || clock.elapsed() < this.#nextAt) return
    this.#nextAt = clock.elapsed() + LOOK_AGAIN_MS
    const editor = editorFor(this.#deps, this.#turn)
    const part = editor && renderVisible(this.#deps, this.#turn, { text: this.#text, doing: this.#doing })
    if (!part || this.#message?.shows(part)) return
    const work = this.#show(editor, part).catch((err: unknown) => this.#stop({ err }))
    this.#inFlight = work.finally(() => {
      this.#inFlight = undefined
    })
    activity.track(this.#inFlight)
  }

  async #show(editor: Editor, part: RenderedPart): Promise<void> {
    const { clock, limiter } = this.#deps
    const { address, lowPriority } = this.#turn
    this.#message ??= createGrowingMessage(this.#deps, this.#turn)
    // Not `this.#over = !(await …)`: the reply may be ended while the lookup runs, and must stay so.
    if (!this.#looked && !(await this.#message.resume())) this.#over = true
    this.#looked = true
    if (this.#over || !limiter.take(address, { rank: rankOf(lowPriority), leaving: LEAVE_SLOTS })) return
    this.#nextAt = clock.elapsed() + editor.editIntervalMs(address)
    const receipt = await this.#message.show(editor, part)
    if (receipt.kind !== 'sent') this.#refused(receipt)
  }

  #refused(receipt: Exclude<DeliveryReceipt, { kind: 'sent' }>): void {
    const { clock, limiter } = this.#deps
    if (receipt.kind === 'rejected' && receipt.retryAfterMs !== undefined) {
      limiter.pause(this.#turn.address, clock.elapsed() + receipt.retryAfterMs)
    }
    this.#stop({ outcome: receipt.kind, reason: receipt.reason })
  }

  async #landed(call: Promise<void>): Promise<void> {
    const { clock, settings } = this.#deps
    const timer = new AbortController()
    await Promise.race([call, sleep(clock, settings.liveSettleMs, timer.signal)])
    timer.abort()
    this.#message?.abandon()
  }

  #stop(fields: object): void {
    this.#over = true
    this.#deps.logger.info('A growing reply is no longer shown', { traceId: this.#turn.traceId, ...fields })
  }
}

/**
 * Returns an adapter that could also delete the message, if the chat may be written to and nothing else is on its way
 * there.
 */
function editorFor(deps: LiveDeps, turn: LiveTurn): Editor | undefined {
  const adapter = deps.streams(turn.address) ? deps.adapter(turn.address) : undefined
  if (!adapter || !editsMessages(adapter) || !deletesMessages(adapter)) return undefined
  if (!deps.sendAllowed(turn).allowed || !deps.queues.free(turn.address, turn.turnId)) return undefined
  return adapter
}

function renderVisible(
  { format }: LiveDeps,
  { address }: LiveTurn,
  { text, doing }: { readonly text: string; readonly doing: string },
): RenderedPart | undefined {
  const { limit, split } = format(address.channel)
  const visible = visibleWhileStreaming(text).trim() === '' ? '' : visibleWhileStreaming(text)
  const said = visible.slice(0, limit * RENDER_FACTOR)
  const line = doing === '' ? [] : [`${doing} …`]
  const shown = [...(said === '' ? [] : [said]), ...line].join('\n\n')
  return shown === '' ? undefined : split(shown)[0]
}
