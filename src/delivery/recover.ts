import { conversationOf } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { isTurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery } from '../core/outbound.ts'
import type { UnreadableDelivery } from '../store/outbox-port.ts'
import type { Store } from '../store/store.ts'
import { type Entry, entryOf } from './conversation.ts'
import { UNREADABLE } from './next.ts'
import type { Queues } from './queues.ts'
import type { OutcomePorts } from './record.ts'

export interface RecoverDeps extends Pick<OutcomePorts, 'undelivered' | 'unreadable'> {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly queues: Queues
}

/** The most rows ended in one transaction. */
const ENDED_AT_ONCE = 500

/**
 * Called at boot, before any adapter is ready. Sends of dead processes become uncertain, parts that are too old end
 * unsent, the rest is queued by id. The growing reply of an interrupted turn is left alone: the turn resumes and its
 * end uses the row (F-A04).
 */
export async function recover(deps: RecoverDeps): Promise<void> {
  const { store, logger } = deps
  const fenced = await store.write((tx) => tx.outbox.fence())
  const unreadable = await quarantine(deps)
  const interrupted = new Set<string>((await store.read.turns.running()).map(({ id }) => id))
  const owed = (await store.read.outbox.unfinished()).filter(({ source }) => !interrupted.has(source))
  const taken = await resume(deps, owed)
  if (owed.length > 0) logger.info('Deliveries were taken up again', { fenced, ...taken })
  // Notices to owners are deliveries too: any sooner, this recovery would queue them a second time.
  for (const { address } of unreadable) if (address) deps.unreadable?.(address)
}

/** Queues what was held after a restoration; called when an owner has chosen to send it. */
export async function resumeHeld(deps: RecoverDeps): Promise<void> {
  const { store, logger } = deps
  const ids = new Set(await store.write((tx) => tx.restorations.resume()))
  const owed = (await store.read.outbox.unfinished()).filter(({ id }) => ids.has(id))
  logger.info('Deliveries that were held are resumed', { ...(await resume(deps, owed)) })
}

async function resume(
  deps: RecoverDeps,
  owed: readonly Delivery[],
): Promise<{ readonly resumed: number; readonly ended: number }> {
  const { store, clock, queues } = deps
  const now = clock.now()
  const ended: Ending[] = []
  const alive: Delivery[] = []
  for (const row of owed) {
    const ending = now >= row.expiresAt ? tooOld(row) : await orphaned(store, row)
    if (ending) ended.push(ending)
    else alive.push(row)
  }
  for (let from = 0; from < ended.length; from += ENDED_AT_ONCE) {
    const some = ended.slice(from, from + ENDED_AT_ONCE)
    await store.write(async (tx) => {
      for (const { row, state, reason, stopped } of some) {
        await tx.outbox.settle(row.id, { state, reason, at: now })
        // One notice for the first missing part of a message is enough.
        const first = some.find((other) => other.row.source === row.source)?.row === row
        if (first && !stopped && row.op !== 'delete') await deps.undelivered?.(tx, row, { state, reason })
      }
    })
  }
  for (const group of grouped(alive, ({ address }) => conversationOf(address))) {
    for (const message of grouped(group, ({ source }) => source)) {
      const [first] = message
      if (first) queues.push(first.address, entriesOf(message))
    }
  }
  return { resumed: alive.length, ended: ended.length }
}

/** Quarantines rows that cannot be read, so that they are neither retried forever nor block their conversation. */
async function quarantine({ store, clock, logger }: RecoverDeps): Promise<readonly UnreadableDelivery[]> {
  const rows = await store.read.outbox.unreadable()
  if (rows.length === 0) return rows
  await store.write(async (tx) => {
    for (const { id } of rows) await tx.outbox.settle(id, { state: 'given_up', reason: UNREADABLE, at: clock.now() })
  })
  logger.error('Stored messages cannot be read and were set aside', { ids: rows.map(({ id }) => id) })
  return rows
}

interface Ending {
  readonly row: Delivery
  readonly state: 'expired' | 'given_up'
  readonly reason: string
  /** True if somebody stopped the turn. */
  readonly stopped?: true
}

function tooOld(row: Delivery): Ending {
  const unknown = row.state === 'uncertain' || row.state === 'sending'
  return unknown
    ? { row, state: 'given_up', reason: 'its outcome stayed unknown until it expired' }
    : { row, state: 'expired', reason: 'too old to be sent' }
}

/**
 * Returns the end of the growing reply of a stopped turn: nobody will finish it, and half a sentence is not sent again.
 */
async function orphaned(store: Store, row: Delivery): Promise<Ending | undefined> {
  if (row.op === 'delete' || row.partNo > 0 || row.attempt === 0 || !isTurnId(row.source)) return undefined
  const turn = await store.read.turns.get(row.source)
  return turn?.state === 'cancelled'
    ? { row, state: 'given_up', reason: 'its turn was stopped', stopped: true }
    : undefined
}

function grouped(rows: readonly Delivery[], keyOf: (row: Delivery) => string): Iterable<readonly Delivery[]> {
  const groups = new Map<string, Delivery[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return groups.values()
}

/** Returns the entries of one message. If a part of it has left, the rows that were sent are not owed any more. */
function entriesOf(message: readonly Delivery[]): readonly Entry[] {
  const entries = message.map((row) => entryOf(row))
  const begun = message[0]?.partNo !== 0 || entries.some((entry) => entry.begun)
  return entries.map((entry) => ({ ...entry, begun }))
}
