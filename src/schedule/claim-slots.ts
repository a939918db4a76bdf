import type { Clock } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { MOST_RUNS, type Schedule } from '../core/schedule.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { decideSlots, type SlotDecision } from './decide-slots.ts'
import { newestSlots } from './slots.ts'

export interface ClaimSlotsDeps {
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  readonly logger: Logger
}

const DAY_MS = 86_400_000
/** The shortest time ended slots are kept. */
const KEPT_MS = 90 * DAY_MS

/**
 * Claims every slot of a schedule that is due: a row each, in one commit, before anything runs. The stored row and the
 * present clock decide, never a timer. Returns the number of slots claimed.
 */
export async function claimSlots({ store, ids, clock, logger }: ClaimSlotsDeps, seen: Schedule): Promise<number> {
  const now = clock.now()
  if (now < seen.evaluatedTo) {
    // The clock was set back; slots that have a row are not claimed again.
    logger.warn('The clock was set back', { schedule: seen.id, from: seen.evaluatedTo, to: now })
    await store.write((tx) => tx.schedules.setEvaluated(seen.id, now))
    return 0
  }
  const { definition, evaluatedTo } = seen
  const due = newestSlots(definition, { after: evaluatedTo, until: now }, MOST_RUNS)
  const newest = due.at(-1)
  if (newest === undefined) return 0
  const decision = decideSlots(due, now, definition.missed)
  const claimed = await store.write(async (tx) => {
    // A schedule that was changed, paused or removed meanwhile is not run in its old form (F-E11).
    const stored = await tx.schedules.get(seen.id)
    if (!stored || stored.paused || stored.updatedAt !== seen.updatedAt || stored.evaluatedTo !== evaluatedTo) return 0
    await tx.schedules.setEvaluated(seen.id, newest)
    await prune(tx, seen, now)
    return recordSlots(tx, seen, { decision, now, ids })
  })
  const { missed } = decision
  if (missed.length > 0) logger.warn('Slots were missed', { schedule: seen.id, missed: missed.length, claimed })
  if (claimed > 0) failpoint('CP15-slot-claimed')
  return claimed
}

interface Recording {
  readonly decision: SlotDecision
  readonly now: number
  readonly ids: IdSource
}

async function recordSlots(
  tx: StoreWriter,
  { id: scheduleId, definition }: Schedule,
  { decision, now, ids }: Recording,
): Promise<number> {
  const skip = (slotAt: number, outcome: string): Promise<boolean> =>
    tx.schedules.addSlot({ scheduleId, slotAt, state: 'skipped', at: now, outcome })
  for (const slotAt of decision.missed) await skip(slotAt, 'missed')
  const owed = (await tx.schedules.claimed()).filter((slot) => slot.scheduleId === scheduleId).length
  const room = owed > 0 && definition.overlap === 'skip' ? 0 : MOST_RUNS - owed
  let claimed = 0
  for (const slotAt of decision.run) {
    if (claimed >= room) await skip(slotAt, 'overlap')
    else if (await tx.schedules.addSlot({ scheduleId, slotAt, state: 'claimed', at: now, traceId: ids.trace() }))
      claimed++
  }
  return claimed
}

/** The last completed run stays however old it is, since the next digest begins where it ended. */
async function prune(tx: StoreWriter, { id }: Schedule, now: number): Promise<void> {
  const done = await tx.schedules.lastDone(id)
  await tx.schedules.pruneSlots(id, Math.min(now - KEPT_MS, done?.slotAt ?? now))
}
