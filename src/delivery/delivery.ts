import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import { type Clock, within } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AccountId, ChannelId, IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery, OutboundMessage } from '../core/outbound.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { createActivity } from './activity.ts'
import { createCalls } from './calls.ts'
import type { LiveTurn } from './growing-message.ts'
import { createLanes, type LaneItem } from './lanes.ts'
import { type LiveReply, startLiveReply } from './live-reply.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'
import { type PlannedReply, planRows } from './plan-rows.ts'
import { createRateLimiter, type SendLimits } from './rate-limiter.ts'
import type { Undelivered } from './record-outcome.ts'
import { recover } from './recover.ts'
import { sendPart } from './send-part.ts'
import { DEFAULT_SETTINGS, type DeliverySettings } from './settings.ts'
import { createTicker } from './ticker.ts'
import { startTyping } from './typing.ts'

export interface DeliveryDeps {
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  readonly logger: Logger
  /** In [0, 1), for jitter. */
  random(): number
  /** Formats are loaded, also while their channel is down. */
  format(channel: ChannelId): TextFormat
  /** Undefined: not ready. The lane waits, and waiting is no attempt (P23). */
  adapter(address: Address): ChannelAdapter | undefined
  limits(address: Address): SendLimits
  /** The account shows answers while they are written. */
  streams(address: Address): boolean
  sendAllowed(message: Speaker): SendVerdict
  /** The store's; a row begun under an older one belongs to a dead process. */
  readonly epoch: number
  readonly settings?: Partial<DeliverySettings>
  /** A send found out that a chat has a new address; rules, sessions and links should move with it. */
  moved?(from: Address, to: Address): void
  /** In the transaction that records it: a part of class `effect` has been delivered, and its conversation's session should know. */
  announced?(tx: StoreWriter, row: Delivery): Promise<void>
  /** In the transaction that records it: what a session said has ended undelivered, and the session should know (P27). */
  undelivered?(tx: StoreWriter, row: Delivery, ending: Undelivered): Promise<void>
}

/** The one gate for everything that leaves: send policy, silence, splitting, outbox, limiter. */
export interface DeliveryService {
  /**
   * Inside the caller's transaction: writes the outbox rows of a message. If nothing else is on its way to that
   * conversation, the first part is `sending` already. A live reply's row becomes its final edit, or its deletion.
   */
  plan(tx: StoreWriter, message: OutboundMessage): Promise<PlannedReply>
  /** After the commit: hands what was planned to its lane. Never throws. */
  release(planned: PlannedReply): void
  /** So much of low priority waits for this account that what can be left unsaid should be. */
  crowded(address: Address): boolean
  /** A reply that is shown while its turn runs. */
  live(turn: LiveTurn): LiveReply
  /** Shows typing until the returned function is called, two minutes at most. */
  typing(turn: Required<Pick<LiveTurn, 'address' | 'session'>>): () => void
  /** Boot, before any adapter is ready. */
  recover(): Promise<void>
  /** An adapter became ready: its lanes go on. */
  ready(channel: ChannelId, account: AccountId): void
  /** Resolves when nothing could proceed now: what is left waits for time or for an adapter. */
  idle(): Promise<void>
  /** Starts no further send, waits for those in flight and aborts what is left in time to end within `ms`. Idempotent. */
  stop(ms: number): Promise<void>
}

const TICK_MS = 250
const SUPERSEDED = 'newer answers took its place while it waited for a slot'
/** For aborted calls to be recorded. */
const LAST_GRACE_MS = 1_000

export function createDelivery(deps: DeliveryDeps): DeliveryService {
  const { clock, store } = deps
  const settings = { ...DEFAULT_SETTINGS, ...deps.settings }
  const calls = createCalls()
  const stopping = new AbortController()
  const activity = createActivity()
  const ticker = createTicker(clock, TICK_MS)
  const limiter = createRateLimiter(clock, deps.limits)
  const tools = { ...deps, settings, limiter, ticker, activity, calls }
  const lanes = createLanes({
    clock,
    logger: deps.logger,
    step: (item, lane) => sendPart(tools, item, lane),
    ready: (address) => deps.adapter(address) !== undefined,
    activity,
    superseded: (items) => activity.track(supersede(items)),
  })
  const showing = { ...tools, lanes }
  const planning = { ...tools, claim }
  let stopped: Promise<void> | undefined

  /** The first part may be `sending` with the commit if it can really leave right after it. */
  function claim({ address, source, lowPriority }: OutboundMessage): boolean {
    if (stopping.signal.aborted || !deps.adapter(address) || !lanes.free(address, source)) return false
    if (!(lowPriority === undefined ? limiter.take(address) : limiter.takeSpare(address))) return false
    lanes.reserve(address, source)
    return true
  }

  /** Newer answers to the same people went in their place: that is their outcome. */
  async function supersede(items: readonly LaneItem[]): Promise<void> {
    const at = clock.now()
    try {
      await store.write(async (tx) => {
        for (const { id } of items) await tx.outbox.settle(id, { state: 'expired', reason: SUPERSEDED, at })
      })
    } catch (err) {
      deps.logger.warn('Answers that are not sent any more could not be recorded as such', { err })
    }
  }

  /** Nothing of it has left: without this the next start would take it for a send of unknown outcome. */
  async function takeBack({ items }: PlannedReply): Promise<void> {
    const begun = items.filter((item) => item.begun)
    await store.write(async (tx) => {
      for (const { id } of begun) await tx.outbox.settle(id, { state: 'waiting', at: clock.now() })
    })
  }

  async function stop(ms: number): Promise<void> {
    stopping.abort()
    lanes.stop()
    ticker.stop()
    const idle = activity.idle()
    await within(clock, Math.max(0, Math.min(settings.stopWithinMs, ms - LAST_GRACE_MS)), idle)
    calls.abort()
    await within(clock, LAST_GRACE_MS, idle)
  }

  return {
    plan: (tx, message) => planRows(planning, tx, message),
    release(planned) {
      if (planned.items.length === 0) return
      failpoint('CP10-outbox-planned')
      if (!stopping.signal.aborted) return lanes.push(planned.address, planned.items)
      const back = takeBack(planned).catch((err: unknown) =>
        deps.logger.warn('A planned message could not be put back', { err }),
      )
      activity.track(back)
    },
    crowded: lanes.crowded,
    live: (turn) => startLiveReply(showing, turn),
    typing: (turn) => startTyping(tools, turn),
    recover: () => recover({ ...deps, lanes }),
    ready: (channel, account) => lanes.wake(channel, account),
    idle: activity.idle,
    stop(ms) {
      stopped ??= stop(ms)
      return stopped
    },
  }
}
