import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery, DeliveryReceipt } from '../core/outbound.ts'
import type { DeliveryChange, StoreWriter } from '../store/store.ts'
import { type AttemptOutcome, decideReceipt } from './decide-receipt.ts'
import type { Lane, LaneItem, Step } from './lanes.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { isRepeat } from './reconcile.ts'
import type { DeliverySettings } from './settings.ts'

export interface OutcomeDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly limiter: RateLimiter
  readonly settings: DeliverySettings
  random(): number
  moved?(from: Address, to: Address): void
  /** In the transaction that records it: a part of class `effect` has been delivered. */
  announced?(tx: StoreWriter, row: Delivery): Promise<void>
  undelivered?(tx: StoreWriter, row: Delivery, ending: Undelivered): Promise<void>
}

/** How a message ended that did not arrive, or of which nobody can say that it did. */
export interface Undelivered {
  readonly state: 'rejected' | 'given_up' | 'expired'
  readonly reason: string
}

export interface Attempt {
  readonly item: LaneItem
  readonly row: Delivery
  readonly lane: Lane
  readonly receipt: DeliveryReceipt
  /** The same send again after one of unknown outcome. */
  readonly again?: boolean
}

type Recorded = NonNullable<LaneItem['outcome']>

/** Turns a receipt into the write that records it and the step that follows; tells limiter, lane and log what it means. */
export function recordOutcome(deps: OutcomeDeps, attempt: Attempt): Recorded {
  const { row, lane, receipt, again = false } = attempt
  const outcome = decideReceipt(
    receipt,
    {
      op: row.op,
      attempt: row.attempt,
      repeat: row.op === 'send' && isRepeat(row.part, deps.settings.repeatMark),
      moved: lane.followed === true,
      again,
    },
    { now: deps.clock.now(), random: deps.random() },
  )
  if (outcome.kind !== 'sent') report(deps, row, outcome)
  return recordOf(deps, attempt, outcome)
}

/** The send did happen, and what it made shows an earlier text: the rest is an edit of that. */
export function becomesEdit({ clock }: OutcomeDeps, { id, part }: Delivery, messageId: string): Recorded {
  const at = clock.now()
  const write = async (tx: StoreWriter): Promise<void> => {
    await tx.outbox.settle(id, { state: 'sent', messageId, at })
    await tx.outbox.replace(id, { op: 'edit', part, state: 'planned', at })
  }
  return { write, next: { kind: 'again' } }
}

const ENDED: Step = { kind: 'ended' }

function recordOf(deps: OutcomeDeps, { item, row, lane }: Attempt, outcome: AttemptOutcome): Recorded {
  const at = deps.clock.now()
  const settle = (change: Omit<DeliveryChange, 'at'>) => (tx: StoreWriter) =>
    tx.outbox.settle(row.id, { ...change, at })
  switch (outcome.kind) {
    case 'sent': {
      const { state, messageId } = outcome
      const write = settle({ state, messageId })
      if (row.class !== 'effect') return { write, next: ENDED }
      const sent: Delivery = { ...row, address: lane.address, state, messageId }
      const announce = async (tx: StoreWriter): Promise<void> => {
        await write(tx)
        await deps.announced?.(tx, sent)
      }
      return { write: announce, next: ENDED }
    }
    case 'wait': {
      const { notBefore, reason } = outcome
      if (outcome.chat) deps.limiter.pause(lane.address, notBefore)
      return { write: settle({ state: 'waiting', notBefore, reason }), next: { kind: 'again' } }
    }
    case 'moved':
      deps.moved?.(lane.address, outcome.to)
      lane.address = outcome.to
      lane.followed = true
      return { write: settle({ state: 'waiting', reason: outcome.reason }), next: { kind: 'again' } }
    case 'send_anew':
      return {
        write: (tx) => tx.outbox.replace(row.id, { op: 'send', part: row.part, state: 'planned', at }),
        next: { kind: 'again' },
      }
    case 'rejected': {
      const others = lane.items.filter((other) => other !== item && other.source === item.source)
      const { reason } = outcome
      const write = async (tx: StoreWriter): Promise<void> => {
        await reject(tx, { row, others, at, reason })
        await deps.undelivered?.(tx, row, { state: 'rejected', reason })
      }
      return { write, next: { kind: 'ended', others } }
    }
    case 'uncertain':
      if (outcome.pauseUntil !== undefined) deps.limiter.pause(lane.address, outcome.pauseUntil)
      return { write: settle({ state: 'uncertain', reason: outcome.reason }), next: { kind: 'again' } }
  }
}

interface Rejection {
  readonly row: Delivery
  readonly others: readonly LaneItem[]
  readonly at: number
  readonly reason: string
}

/** A message with a hole in it helps nobody: what follows a refused part is not sent. */
async function reject(tx: StoreWriter, { row, others, at, reason }: Rejection): Promise<void> {
  await tx.outbox.settle(row.id, { state: 'rejected', reason, at })
  for (const { id } of others) {
    await tx.outbox.settle(id, { state: 'rejected', reason: 'an earlier part was refused', at })
  }
}

function report({ logger }: OutcomeDeps, row: Delivery, outcome: Exclude<AttemptOutcome, { kind: 'sent' }>): void {
  const fields = {
    id: row.id,
    traceId: row.traceId,
    outcome: outcome.kind,
    reason: outcome.reason,
    attempt: row.attempt,
  }
  if (outcome.kind === 'wait') logger.info('A message waits for another attempt', fields)
  else logger.warn('A message could not be delivered as planned', fields)
}
