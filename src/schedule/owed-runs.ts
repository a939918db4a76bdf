import type { ScheduleId } from '../core/ids.ts'
import type { ScheduleSlot } from '../core/schedule.ts'
import { advanceRun, type BeginRunDeps, type OwedSlot } from './begin-run.ts'
import { ON_TIME_MS } from './decide-slots.ts'

/**
 * Advances the owed runs: those of one schedule one after another, schedules independently. Returns true while any is
 * owed.
 */
export async function advanceRuns(deps: BeginRunDeps): Promise<boolean> {
  let left = false
  for (const slots of bySchedule(await deps.store.read.schedules.claimed())) {
    for (const slot of slots) {
      if (await advanceRun(deps, slot)) continue
      left = true
      break
    }
  }
  return left
}

/**
 * Records the end of runs that have ended, so that they do not delay the next before a tick has seen it. Begins
 * nothing.
 */
export async function endRuns(deps: BeginRunDeps): Promise<void> {
  const { schedules, inbox } = deps.store.read
  for (const [slot] of bySchedule(await schedules.claimed())) {
    if (slot && (await inbox.find(slot.traceId))[0]?.state === 'done') await advanceRun(deps, slot)
  }
}

/**
 * Called at boot. A schedule that skips missed slots skips those that were claimed, never begun and are late by now.
 * The rest begins with the first tick; a run that had begun resumes like any interrupted turn.
 */
export async function skipInterrupted({ store, clock, logger }: BeginRunDeps): Promise<void> {
  const at = clock.now()
  for (const { traceId, scheduleId, slotAt } of await store.read.schedules.claimed()) {
    if (traceId === undefined || at - slotAt <= ON_TIME_MS) continue
    const schedule = await store.read.schedules.get(scheduleId)
    if (schedule?.definition.missed.kind !== 'skip') continue
    if ((await store.read.inbox.find(traceId)).length > 0) continue
    const outcome = 'missed: interrupted before it began'
    await store.write((tx) => tx.schedules.endSlot(traceId, { state: 'skipped', outcome, at }))
    logger.warn('A slot was interrupted before it ran', { schedule: scheduleId, traceId })
  }
}

function bySchedule(slots: readonly ScheduleSlot[]): Iterable<readonly OwedSlot[]> {
  const groups = new Map<ScheduleId, OwedSlot[]>()
  for (const { traceId, ...slot } of slots) {
    if (traceId === undefined) continue
    const owed: OwedSlot = { ...slot, traceId }
    const group = groups.get(slot.scheduleId)
    if (group) group.push(owed)
    else groups.set(slot.scheduleId, [owed])
  }
  return groups.values()
}
