import type { ChannelAdapter, TextFormat } from '../channels/adapter.ts'
import { answersPrivately, deletesMessages, editsMessages } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import { type ChannelId, deliveryKey } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery, DeliveryReceipt } from '../core/outbound.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import type { Calls } from './calls.ts'
import { decideAttempt, type NextAct } from './decide-attempt.ts'
import { deniedMeanwhile } from './denied-meanwhile.ts'
import type { Lane, LaneItem, Step } from './lanes.ts'
import { lookForOwn, proofOf } from './look-for-own.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { markRepeat } from './reconcile.ts'
import { becomesEdit, recordOutcome, type Undelivered } from './record-outcome.ts'
import type { DeliverySettings } from './settings.ts'

export interface SendDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly settings: DeliverySettings
  readonly calls: Calls
  random(): number
  format(channel: ChannelId): TextFormat
  adapter(address: Address): ChannelAdapter | undefined
  sendAllowed(message: Speaker): SendVerdict
  moved?(from: Address, to: Address): void
  announced?(tx: StoreWriter, row: Delivery): Promise<void>
  undelivered?(tx: StoreWriter, row: Delivery, ending: Undelivered): Promise<void>
}

/** What the row is sent with. */
interface Transmission {
  readonly kind: 'send'
  readonly row: Delivery
  readonly adapter: ChannelAdapter
  /** The same send again after one of unknown outcome. */
  readonly again?: boolean
}

/**
 * Takes the head of a lane one step on: wait, or commit `sending`, call the platform, commit what became of it. Rejects
 * only when the store does; the lane then comes back to the same step.
 */
export async function sendPart(deps: SendDeps, item: LaneItem, lane: Lane): Promise<Step> {
  if (!item.outcome) {
    const next = begunOf(deps, item, lane) ?? (await prepare(deps, item, lane))
    if (next.kind !== 'send') return next
    failpoint('CP11-sending-committed')
    let receipt: DeliveryReceipt
    try {
      receipt = await perform(next, lane.address, deps.calls.signal)
    } catch (thrown) {
      // The adapter's contract says it never throws; what breaks it is an outcome nobody knows.
      receipt = { kind: 'unknown', reason: toError(thrown).message }
    }
    item.outcome = recordOutcome(deps, { item, row: next.row, lane, receipt, again: next.again === true })
  }
  const { write, next } = item.outcome
  await deps.store.write(write)
  item.outcome = undefined
  // What the next step sees is read from the store: the row has changed.
  item.row = undefined
  item.begun = undefined
  item.slotAt = undefined
  if (next.kind === 'ended' && lane.items[1]?.source === item.source) failpoint('CP14-between-chunks')
  return next
}

/** What is `sending` already goes at once, if there still is somebody to take it. */
function begunOf({ adapter }: SendDeps, { begun, row }: LaneItem, lane: Lane): Transmission | undefined {
  if (!begun || !row) return undefined
  if (!lane.followed) lane.address = row.address
  const taker = adapter(lane.address)
  return taker && { kind: 'send', row, adapter: taker }
}

/** Everything up to the send, `sending` committed; a step if it does not come to one. */
async function prepare(deps: SendDeps, item: LaneItem, lane: Lane): Promise<Step | Transmission> {
  const row = item.row ?? (await deps.store.read.outbox.get(item.id))
  if (!row) return { kind: 'ended' }
  item.row = row
  if (!lane.followed) lane.address = row.address
  const adapter = deps.adapter(lane.address)
  if (!adapter) return park(deps, item)
  const act = decideAttempt(row, uncertainAt(deps, item, row), deps.settings, proofOf(adapter, item))
  if (act.kind === 'skip') return { kind: 'ended' }
  if (act.kind === 'wait') return act
  if (act.kind === 'end') return end(deps, row, act)
  if (act.kind === 'look') return look(deps, { item, row, lane, adapter })
  if (act.kind === 'found') return settleFound(deps, { item, row, lane }, act)
  const denied = await deniedMeanwhile(deps, row)
  if (denied !== undefined) return end(deps, row, denied)
  const until = slot(deps, item, lane)
  if (until > deps.clock.now()) return { kind: 'wait', until }
  const begun = await begin(deps, row, act)
  if (!begun) return { kind: 'ended' }
  item.row = begun
  item.begun = true
  item.looked = undefined
  return { kind: 'send', row: begun, adapter, again: act.kind === 'send' && act.again === true }
}

function uncertainAt({ clock }: SendDeps, item: LaneItem, { state }: Delivery): { now: number; since: number } {
  const now = clock.now()
  if (state === 'sending' || state === 'uncertain') item.uncertainSince ??= now
  return { now, since: item.uncertainSince ?? now }
}

/** Waiting for an adapter is no attempt (P23): a part that was to go at once goes back. */
async function park({ store, clock }: SendDeps, item: LaneItem): Promise<Step> {
  if (item.begun) {
    await store.write((tx) => tx.outbox.settle(item.id, { state: 'waiting', at: clock.now() }))
    item.begun = undefined
  }
  item.row = undefined
  item.slotAt = undefined
  return { kind: 'parked' }
}

async function end(
  { store, clock, logger, undelivered }: SendDeps,
  row: Delivery,
  { state, reason }: Extract<NextAct, { kind: 'end' }>,
): Promise<Step> {
  await store.write(async (tx) => {
    await tx.outbox.settle(row.id, { state, reason, at: clock.now() })
    await undelivered?.(tx, row, { state, reason })
  })
  logger.warn('A message was not delivered', { id: row.id, traceId: row.traceId, state, reason })
  return { kind: 'ended' }
}

/** The time from which the part may go. Chat and group are asked first, so that a full one books nothing elsewhere. */
function slot({ limiter, clock }: SendDeps, item: LaneItem, { address }: Lane): number {
  if (item.low !== undefined && item.slotAt === undefined) {
    const wait = limiter.takeLow(address)
    item.yielding = wait > 0
    if (wait > 0) return clock.now() + wait
    item.slotAt = clock.now()
  }
  if (item.slotAt === undefined) {
    const wait = limiter.takeChat(address)
    if (wait > 0) return clock.now() + wait
    item.slotAt = clock.now() + limiter.bookAccount(address)
  }
  return item.slotAt
}

/** Commits `sending` before the first byte. Undefined if the row is no longer ours to send. */
async function begin(
  { store, clock, settings, format }: SendDeps,
  row: Delivery,
  act: Extract<NextAct, { kind: 'send' | 'repeat' }>,
): Promise<Delivery | undefined> {
  const startedAt = act.kind === 'send' && act.again ? (row.startedAt ?? clock.now()) : clock.now()
  const begun: Delivery = { ...row, state: 'sending', attempt: row.attempt + 1, startedAt }
  if (act.kind === 'send') {
    return (await store.write((tx) => tx.outbox.begin(row.id, act.from, startedAt))) ? begun : undefined
  }
  const part = markRepeat(row.part, settings.repeatMark, format(row.address.channel).limit)
  await store.write((tx) => tx.outbox.replace(row.id, { op: 'send', part, state: 'sending', at: startedAt }))
  return { ...begun, op: 'send', part }
}

interface Head {
  readonly item: LaneItem
  readonly row: Delivery
  readonly lane: Lane
}

/** Asks the platform; what it says decides the next step. */
async function look(
  deps: SendDeps,
  { item, row, lane, adapter }: Head & { readonly adapter: ChannelAdapter },
): Promise<Step> {
  const found = await lookForOwn(deps.calls, adapter, { ...row, address: lane.address })
  item.looked = { found, at: deps.clock.now() }
  deps.logger.info('A message of unknown outcome was looked for', {
    id: row.id,
    traceId: row.traceId,
    found: found.kind,
  })
  return { kind: 'again' }
}

/** Nothing is left to send: the next step records it. */
function settleFound(
  deps: SendDeps,
  { item, row, lane }: Head,
  { messageId, outdated }: Extract<NextAct, { kind: 'found' }>,
): Step {
  const receipt = { kind: 'sent', messageId } as const
  item.outcome = outdated ? becomesEdit(deps, row, messageId) : recordOutcome(deps, { item, row, lane, receipt })
  return { kind: 'again' }
}

function perform(
  { row, adapter }: Transmission,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> | DeliveryReceipt {
  const { part, messageId } = row
  if (row.op === 'send') return send(adapter, row, address, signal)
  if (messageId === undefined) return { kind: 'rejected', reason: 'the message to change is not known' }
  if (row.op === 'edit') {
    if (!editsMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not edit messages' }
    return adapter.edit({ address, messageId }, part, signal)
  }
  if (!deletesMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not delete messages' }
  return adapter.delete({ address, messageId }, signal)
}

function send(
  adapter: ChannelAdapter,
  { id, part, partNo, replyTo, only }: Delivery,
  address: Address,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const message = {
    address,
    rendered: part,
    // A hash, for the platforms that have a use for it.
    get key() {
      return deliveryKey(id)
    },
    ...(replyTo === undefined ? undefined : { replyTo }),
  }
  if (only === undefined || !answersPrivately(adapter)) return adapter.send(message, signal)
  return adapter.answerPrivately({ ...message, recipient: only, partNo }, signal)
}
