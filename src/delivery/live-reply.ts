import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import { deletesMessages, editsMessages } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import { sleep } from '../core/clock.ts'
import type { ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { DeliveryReceipt, RenderedPart } from '../core/outbound.ts'
import { visibleWhileStreaming } from '../core/silence.ts'
import type { Activity } from './activity.ts'
import { createGrowingMessage, type Editor, type LiveTurn, type MessageDeps } from './growing-message.ts'
import type { Lanes } from './lanes.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Ticker } from './ticker.ts'

export interface LiveReply {
  /** The whole text so far, raw: markers are held back here (S31). Cheap; never throws. */
  push(this: void, text: string): void
  /** Ends it; resolves once nothing of it is in flight, so that the final edit is the last. Undefined: nothing is. */
  settle(): Promise<void> | undefined
}

export interface LiveDeps extends MessageDeps {
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly lanes: Lanes
  readonly ticker: Ticker
  readonly activity: Activity
  format(channel: ChannelId): TextFormat
  adapter(address: Address): ChannelAdapter | undefined
  /** The account shows answers while they are written. */
  streams(address: Address): boolean
  sendAllowed(message: Speaker): SendVerdict
}

/** Slots of chat and group an edit must leave, so that the final answer never waits for its own preview. */
const LEAVE_SLOTS = 2
/** Rendering at every delta would cost more than it shows. */
const LOOK_AGAIN_MS = 250
/** Source characters rendered for one visible part: enough for any markup, and bounded. */
const RENDER_FACTOR = 4

/**
 * A reply that is shown while it grows. The edits have no rows and are dropped, not queued, when the limiter has no slot.
 * The first call that does not succeed ends the show; the final answer is then the business of `planRows`.
 */
export function startLiveReply(deps: LiveDeps, turn: LiveTurn): LiveReply {
  const { clock, settings } = deps
  const message = createGrowingMessage(deps, turn)
  let nextAt = clock.now() + settings.liveAfterMs
  let text = ''
  let looked = false
  let over = false
  let inFlight: Promise<void> | undefined
  let untick: (() => void) | undefined

  function tick(): void {
    if (over || inFlight || clock.now() < nextAt) return
    nextAt = clock.now() + LOOK_AGAIN_MS
    const editor = editorFor(deps, turn)
    const part = editor && renderVisible(deps, turn, text)
    if (!part || part.text === message.rendered) return
    const work = show(editor, part).catch((err: unknown) => stop({ err }))
    inFlight = work.finally(() => {
      inFlight = undefined
    })
    deps.activity.track(inFlight)
  }

  async function show(editor: Editor, part: RenderedPart): Promise<void> {
    if (!looked) over ||= !(await message.takeUp())
    looked = true
    if (over || !deps.limiter.take(turn.address, LEAVE_SLOTS)) return
    nextAt = clock.now() + editor.editIntervalMs(turn.address)
    const receipt = await message.show(editor, part)
    if (receipt.kind !== 'sent') refused(receipt)
  }

  function refused(receipt: Exclude<DeliveryReceipt, { kind: 'sent' }>): void {
    if (receipt.kind === 'rejected' && receipt.retryAfterMs !== undefined) {
      deps.limiter.pause(turn.address, clock.now() + receipt.retryAfterMs)
    }
    stop({ outcome: receipt.kind, reason: receipt.reason })
  }

  async function landed(call: Promise<void>): Promise<void> {
    const patience = new AbortController()
    await Promise.race([call, sleep(clock, settings.liveSettleMs, patience.signal)])
    patience.abort()
    message.abandon()
  }

  function stop(fields: object): void {
    over = true
    deps.logger.info('A growing reply is no longer shown', { traceId: turn.traceId, ...fields })
  }

  return {
    push(whole) {
      if (over) return
      text = whole
      untick ??= deps.ticker.add(tick)
      if (clock.now() >= nextAt) tick()
    },
    settle() {
      over = true
      untick?.()
      return inFlight && landed(inFlight)
    },
  }
}

/** In a chat where we may send and nothing else is on its way; only an adapter that could take the message back. */
function editorFor(deps: LiveDeps, turn: LiveTurn): Editor | undefined {
  const adapter = deps.streams(turn.address) ? deps.adapter(turn.address) : undefined
  if (!adapter || !editsMessages(adapter) || !deletesMessages(adapter)) return undefined
  if (!deps.sendAllowed(turn).allowed || !deps.lanes.free(turn.address, turn.turnId)) return undefined
  return adapter
}

function renderVisible({ format }: LiveDeps, { address }: LiveTurn, text: string): RenderedPart | undefined {
  const visible = visibleWhileStreaming(text)
  if (visible.trim() === '') return undefined
  const { limit, split } = format(address.channel)
  return split(visible.slice(0, limit * RENDER_FACTOR))[0]
}
