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

/**
 * Takes the head of a lane one step on: wait, or commit `sending`, call the platform, commit what became of it. Rejects
 * only when the store does; the lane then comes back to the same step.
 */
export async function sendPart(deps: SendDeps, item: LaneItem, lane: Lane): Promise<Step> {
  if (!item.outcome) {
    const step = await attempt(deps, item, lane)
    if (step) return step
  }
  const { outcome } = item
  if (!outcome) return { kind: 'again' }
  await deps.store.write(outcome.write)
  delete item.outcome
  // What the next step sees is read from the store: the row has changed.
  delete item.row
  delete item.begun
  delete item.slotAt
  const following = lane.items[1]
  if (outcome.next.kind === 'ended' && following?.source === item.source) failpoint('CP14-between-chunks')
  return outcome.next
}

/** Everything up to the receipt, which is left in `item.outcome`; returns a step if it did not come to a send. */
async function attempt(deps: SendDeps, item: LaneItem, lane: Lane): Promise<Step | undefined> {
  const row = item.row ?? (await deps.store.read.outbox.get(item.id))
  if (!row) return { kind: 'ended' }
  item.row = row
  if (!lane.followed) lane.address = row.address
  const adapter = deps.adapter(lane.address)
  if (!adapter) return park(deps, item)
  if (item.begun) return transmit(deps, { item, row, lane, adapter })
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
  delete item.looked
  return transmit(deps, { item, row: begun, lane, adapter, again: act.kind === 'send' && act.again === true })
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
    delete item.begun
  }
  delete item.row
  delete item.slotAt
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

interface Transmission {
  readonly item: LaneItem
  readonly row: Delivery
  readonly lane: Lane
  readonly adapter: ChannelAdapter
  readonly again?: boolean
}

async function transmit(deps: SendDeps, { item, row, lane, adapter, again = false }: Transmission): Promise<undefined> {
  failpoint('CP11-sending-committed')
  const receipt = await call(deps.calls, adapter, { ...row, address: lane.address })
  item.outcome = recordOutcome(deps, { item, row, lane, receipt, again })
}

/** Asks the platform; what it says decides the next step. */
async function look(deps: SendDeps, { item, row, lane, adapter }: Transmission): Promise<Step> {
  const found = await lookForOwn(deps.calls, adapter, { ...row, address: lane.address })
  item.looked = { found, at: deps.clock.now() }
  deps.logger.info('A message of unknown outcome was looked for', {
    id: row.id,
    traceId: row.traceId,
    found: found.kind,
  })
  return { kind: 'again' }
}

function settleFound(
  deps: SendDeps,
  { item, row, lane }: Omit<Transmission, 'adapter'>,
  { messageId, outdated }: Extract<NextAct, { kind: 'found' }>,
): undefined {
  const receipt = { kind: 'sent', messageId } as const
  item.outcome = outdated ? becomesEdit(deps, row, messageId) : recordOutcome(deps, { item, row, lane, receipt })
}

/** The adapter's contract says it never throws; what breaks it is an outcome nobody knows. */
async function call(calls: Calls, adapter: ChannelAdapter, row: Delivery): Promise<DeliveryReceipt> {
  try {
    return await calls.make(async ({ signal }) => perform(adapter, row, signal))
  } catch (thrown) {
    return { kind: 'unknown', reason: toError(thrown).message }
  }
}

function perform(
  adapter: ChannelAdapter,
  row: Delivery,
  signal: AbortSignal,
): Promise<DeliveryReceipt> | DeliveryReceipt {
  const { address, part, partNo, messageId, replyTo, only } = row
  if (row.op === 'send') {
    const key = deliveryKey(row.id)
    const common = { address, rendered: part, key, ...(replyTo === undefined ? {} : { replyTo }) }
    if (only === undefined || !answersPrivately(adapter)) return adapter.send(common, signal)
    return adapter.answerPrivately({ ...common, recipient: only, partNo }, signal)
  }
  if (messageId === undefined) return { kind: 'rejected', reason: 'the message to change is not known' }
  if (row.op === 'edit') {
    if (!editsMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not edit messages' }
    return adapter.edit({ address, messageId }, part, signal)
  }
  if (!deletesMessages(adapter)) return { kind: 'rejected', reason: 'this channel does not delete messages' }
  return adapter.delete({ address, messageId }, signal)
}
