import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import { type Clock, within } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AccountId, ChannelId, DeliveryId, IdSource, TurnId } from '../core/ids.ts'
import type { RequestId } from '../core/keyed-request.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import type { DeliveryChange } from '../store/outbox-port.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { createActivity } from './activity.ts'
import { createCalls } from './calls.ts'
import { type ClosedCard, closeCard } from './close-card.ts'
import type { Entry } from './conversation.ts'
import { createPartDecisions } from './decide-part.ts'
import type { LiveTurn } from './growing-message.ts'
import { type LiveReply, startLiveReply } from './live-reply.ts'
import { rankOf } from './low-priority.ts'
import { factsOf, perform } from './perform.ts'
import type { Speaker, SpeakerVerdict } from './plan-reply.ts'
import { type PlanDeps, type PlannedReply, planRows } from './plan-rows.ts'
import { type PresentDeps, type Presented, type Presenting, present } from './present.ts'
import { createQueues } from './queues.ts'
import { createRateLimiter, type SendLimits } from './rate-limiter.ts'
import { putReaction, type Reacted } from './react.ts'
import type { OutcomePorts } from './record.ts'
import { recover, resumeHeld } from './recover.ts'
import { DEFAULT_SETTINGS, type DeliverySettings } from './settings.ts'
import { takeBack } from './take-back.ts'
import { createTicker } from './ticker.ts'
import { startTyping } from './typing.ts'

export interface DeliveryDeps
  extends OutcomePorts,
    Pick<PresentDeps, 'files' | 'answerAsFile' | 'speak'>,
    Pick<PlanDeps, 'commandMark' | 'follow'> {
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  readonly logger: Logger
  readonly media: MediaStore
  /** Returns a number in [0, 1), for jitter. */
  random(): number
  /** Returns the channel's format, also while the channel is down. */
  format(channel: ChannelId): TextFormat
  /** Returns undefined while the adapter is not ready: the conversation waits, and that is no attempt. */
  adapter(address: Address): ChannelAdapter | undefined
  limits(address: Address): SendLimits
  /** Returns true if the account shows answers while they are written. */
  streams(address: Address): boolean
  sendAllowed(message: Speaker): SpeakerVerdict
  /** The store's epoch; a row begun under an older one belongs to a dead process. */
  readonly epoch: number
  readonly settings?: Partial<DeliverySettings>
}

/** The one exit for everything that leaves: send policy, silence, splitting, outbox, limiter. */
export interface DeliveryService {
  /**
   * Writes the outbox rows of a message inside the caller's transaction. The first part is `sending` already if nothing
   * else is on its way to that conversation. The row of a live reply becomes its final edit or its deletion.
   */
  plan(tx: StoreWriter, message: OutboundMessage): Promise<PlannedReply>
  /** Closes a message with buttons inside the caller's transaction (`close-card.ts`). */
  close(tx: StoreWriter, card: ClosedCard): Promise<PlannedReply | 'later' | undefined>
  /**
   * Takes back what a source has said, inside the caller's transaction: what is shown is deleted after the commit, and
   * what waits is never sent. Returns false while the outcome of a call is not known; then nothing was done.
   */
  takeBack(tx: StoreWriter, turn: TurnId): Promise<boolean>
  /** Returns an answer as a recording or a file, where it is to be one; never rejects. Called before `plan`. */
  present(answer: Presenting): Promise<Presented | undefined>
  /** Hands planned parts to their conversation after the commit. Never throws. */
  release(planned: PlannedReply): void
  /** Returns true if so much of low priority waits for this account that optional messages should not be sent. */
  crowded(address: Address): boolean
  /** Returns a reply that is shown while its turn runs. */
  live(turn: LiveTurn): LiveReply
  /** Shows typing until the returned function is called, two minutes at most. */
  typing(turn: Required<Pick<LiveTurn, 'address' | 'session'>> & Pick<LiveTurn, 'reader'>): () => void
  /** Puts an emoji on a message; resolves with what came of it. */
  react(target: Speaker & { readonly messageId: string }, emoji: string, signal: AbortSignal): Promise<Reacted>
  /** Queues what was left unsent; called at boot, before any adapter is ready. */
  recover(): Promise<void>
  /** Releases what has been held since the database was restored. */
  resumeHeld(): Promise<void>
  /** Sends a part that did not arrive once more, by an operator's word (`decide-part.ts`). */
  retry(id: DeliveryId, once?: RequestId): Promise<void>
  /** Ends a part that is owed, or whose outcome is not known, by an operator's word. */
  drop(id: DeliveryId): Promise<void>
  /** Resumes the conversations of an adapter that became ready. */
  ready(channel: ChannelId, account: AccountId): void
  /** Resolves when nothing can proceed now: what is left waits for time or for an adapter. */
  idle(): Promise<void>
  /** Resolves when the outcome of a part may be on record next. */
  nextStep(): Promise<void>
  /**
   * Starts no further send, waits for those in flight and aborts what is left in time to end within `ms`. Idempotent.
   */
  stop(ms: number): Promise<void>
}

/** None of these has left: unless they wait again, the next start takes them for sends of unknown outcome. */
function isBegun({ item }: Entry): boolean {
  return item.kind === 'sending'
}

const TICK_MS = 250
/** The outcome of parts that newer answers to the same people replaced. */
const SUPERSEDED = { state: 'expired', reason: 'newer answers took its place while it waited for a slot' } as const
/** Time in which aborted calls are recorded. */
const LAST_GRACE_MS = 1_000

export function createDelivery(deps: DeliveryDeps): DeliveryService {
  const { clock, store } = deps
  const settings = { ...DEFAULT_SETTINGS, ...deps.settings }
  const [calls, stopping] = [createCalls(), new AbortController()]
  const activity = createActivity()
  const [ticker, limiter] = [createTicker(clock, TICK_MS), createRateLimiter(clock, deps.limits)]
  /** After a stop no adapter takes calls: what is under way ends, and what waits is left for the next start. */
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
  const planning = { ...tools, claim }
  let stopped: Promise<void> | undefined

  /** The first part may be `sending` with the commit if it can leave right after it. */
  function claim(tx: StoreWriter, { address, source, lowPriority }: OutboundMessage): boolean {
    if (!adapter(address) || !queues.free(address, source)) return false
    if (!limiter.take(address, { rank: rankOf(lowPriority) })) return false
    const withdraw = queues.announce(address, source)
    tx.afterUndo(() => {
      withdraw()
      limiter.giveBack(address)
    })
    return true
  }

  /** Records the outcome of parts that are not sent now. */
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

  function release({ address, entries }: PlannedReply): void {
    if (entries.length === 0) return
    failpoint('CP10-outbox-planned')
    if (!stopping.signal.aborted) queues.push(address, entries)
    else activity.track(settle(entries.filter(isBegun), { state: 'waiting' }))
  }

  async function stop(ms: number): Promise<void> {
    stopping.abort()
    queues.stop()
    ticker.stop()
    await within(clock, Math.max(0, Math.min(settings.stopWithinMs, ms - LAST_GRACE_MS)), activity.idle())
    calls.abort()
    await within(clock, LAST_GRACE_MS, activity.idle())
  }

  return {
    plan: (tx, message) => planRows(planning, tx, message),
    close: (tx, card) => closeCard(planning, tx, card),
    present: (answer) => present(deps, answer),
    takeBack: (tx, turn) => takeBack({ ...planning, release }, tx, turn),
    release,
    crowded: (address) => queues.crowded(address),
    live: (turn) => startLiveReply({ ...tools, queues }, turn),
    typing: (turn) => startTyping(tools, turn),
    react: (target, emoji, signal) => putReaction(tools, target, emoji, signal),
    ...{ recover: () => recover({ ...deps, queues }), resumeHeld: () => resumeHeld({ ...deps, queues }) },
    ...createPartDecisions({ ...tools, release }),
    ready: (channel, account) => queues.wake(channel, account),
    ...{ idle: activity.idle, nextStep: activity.nextStep },
    stop(ms) {
      stopped ??= stop(ms)
      return stopped
    },
  }
}
