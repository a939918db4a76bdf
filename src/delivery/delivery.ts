import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import { type Clock, within } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AccountId, ChannelId, IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import type { DeliveryChange, Store, StoreWriter } from '../store/store.ts'
import { createActivity } from './activity.ts'
import { createCalls } from './calls.ts'
import type { Entry } from './conversation.ts'
import type { LiveTurn } from './growing-message.ts'
import { type LiveReply, startLiveReply } from './live-reply.ts'
import { rankOf } from './low-priority.ts'
import { factsOf, perform } from './perform.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'
import { type PlannedReply, planRows } from './plan-rows.ts'
import { createQueues } from './queues.ts'
import { createRateLimiter, type SendLimits } from './rate-limiter.ts'
import type { OutcomePorts } from './record.ts'
import { recover, resumeHeld } from './recover.ts'
import { DEFAULT_SETTINGS, type DeliverySettings } from './settings.ts'
import { createTicker } from './ticker.ts'
import { startTyping } from './typing.ts'

export interface DeliveryDeps extends OutcomePorts {
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  readonly logger: Logger
  /** In [0, 1), for jitter. */
  random(): number
  /** Formats are loaded, also while their channel is down. */
  format(channel: ChannelId): TextFormat
  /** Undefined: not ready. The conversation waits, and waiting is no attempt. */
  adapter(address: Address): ChannelAdapter | undefined
  limits(address: Address): SendLimits
  /** The account shows answers while they are written. */
  streams(address: Address): boolean
  sendAllowed(message: Speaker): SendVerdict
  /** The store's; a row begun under an older one belongs to a dead process. */
  readonly epoch: number
  readonly settings?: Partial<DeliverySettings>
}

/** The one gate for everything that leaves: send policy, silence, splitting, outbox, limiter. */
export interface DeliveryService {
  /**
   * Inside the caller's transaction: writes the outbox rows of a message. If nothing else is on its way to that
   * conversation, the first part is `sending` already. A live reply's row becomes its final edit, or its deletion.
   */
  plan(tx: StoreWriter, message: OutboundMessage): Promise<PlannedReply>
  /** After the commit: hands what was planned to its conversation. Never throws. */
  release(planned: PlannedReply): void
  /** So much of low priority waits for this account that what can be left unsaid should be. */
  crowded(address: Address): boolean
  /** A reply that is shown while its turn runs. */
  live(turn: LiveTurn): LiveReply
  /** Shows typing until the returned function is called, two minutes at most. */
  typing(turn: Required<Pick<LiveTurn, 'address' | 'session'>>): () => void
  /** Boot, before any adapter is ready. */
  recover(): Promise<void>
  /** Lets go of what is held since the database was put back. */
  resumeHeld(): Promise<void>
  /** An adapter became ready: its conversations go on. */
  ready(channel: ChannelId, account: AccountId): void
  /** Resolves when nothing could proceed now: what is left waits for time or for an adapter. */
  idle(): Promise<void>
  /** Starts no further send, waits for those in flight and aborts what is left in time to end within `ms`. Idempotent. */
  stop(ms: number): Promise<void>
}

const TICK_MS = 250
/** Newer answers to the same people went in their place: that is their outcome. */
const SUPERSEDED = { state: 'expired', reason: 'newer answers took its place while it waited for a slot' } as const
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
  /** Once it stops nobody takes calls any more: what is under way ends, and what waits is left for the next start. */
  const adapter: DeliveryDeps['adapter'] = (address) => (stopping.signal.aborted ? undefined : deps.adapter(address))
  const tools = { ...deps, adapter, settings, limiter, ticker, activity, calls }
  const queues = createQueues({
    clock,
    logger: deps.logger,
    facts: (conversation, answer) => factsOf(tools, conversation, answer),
    perform: (effect, head) => perform(tools, effect, head),
    ready: (address) => adapter(address) !== undefined,
    activity,
    superseded: (entries) => activity.track(settle(entries, SUPERSEDED)),
  })
  const showing = { ...tools, queues }
  const planning = { ...tools, claim }
  let stopped: Promise<void> | undefined

  /** The first part may be `sending` with the commit if it can really leave right after it. */
  function claim({ address, source, lowPriority }: OutboundMessage): boolean {
    if (!adapter(address) || !queues.free(address, source)) return false
    if (!limiter.take(address, { rank: rankOf(lowPriority) })) return false
    queues.announce(address, source)
    return true
  }

  /** Records what becomes of parts that are not sent now. */
  async function settle(entries: readonly Entry[], change: Omit<DeliveryChange, 'at'>): Promise<void> {
    const at = clock.now()
    try {
      await store.write(async (tx) => {
        for (const { id } of entries) await tx.outbox.settle(id, { ...change, at })
      })
    } catch (err) {
      deps.logger.warn('Messages that are not sent now could not be recorded as such', { err })
    }
  }

  async function stop(ms: number): Promise<void> {
    stopping.abort()
    queues.stop()
    ticker.stop()
    const idle = activity.idle()
    await within(clock, Math.max(0, Math.min(settings.stopWithinMs, ms - LAST_GRACE_MS)), idle)
    calls.abort()
    await within(clock, LAST_GRACE_MS, idle)
  }

  return {
    plan: (tx, message) => planRows(planning, tx, message),
    release(planned) {
      if (planned.entries.length === 0) return
      failpoint('CP10-outbox-planned')
      if (!stopping.signal.aborted) return queues.push(planned.address, planned.entries)
      // Nothing of it has left: without this the next start would take it for a send of unknown outcome.
      const begun = planned.entries.filter(({ item }) => item.kind === 'sending')
      activity.track(settle(begun, { state: 'waiting' }))
    },
    crowded: (address) => queues.crowded(address),
    live: (turn) => startLiveReply(showing, turn),
    typing: (turn) => startTyping(tools, turn),
    recover: () => recover({ ...deps, queues }),
    resumeHeld: () => resumeHeld({ ...deps, queues }),
    ready: (channel, account) => queues.wake(channel, account),
    idle: activity.idle,
    stop(ms) {
      stopped ??= stop(ms)
      return stopped
    },
  }
}
