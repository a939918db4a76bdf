import type { ScheduleId } from '../core/ids.ts'
import type { ScheduleSlot } from '../core/schedule.ts'
import { advanceRun, type OwedSlot, type RunDeps } from './begin-run.ts'
import { ON_TIME_MS } from './decide-slots.ts'

/** Runs of one schedule come one after another; schedules do not wait for each other. True while any is owed. */
export async function advanceRuns(deps: RunDeps): Promise<boolean> {
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

/** A run that has ended is not in the way of the next, though no tick has seen it yet. Begins nothing. */
export async function endRuns(deps: RunDeps): Promise<void> {
  const { schedules, inbox } = deps.store.read
  for (const [slot] of bySchedule(await schedules.claimed())) {
    if (slot && (await inbox.find(slot.traceId))[0]?.state === 'done') await advanceRun(deps, slot)
  }
}

/**
 * Boot: of what was claimed and never begun, a schedule that skips what it missed skips what is no longer on time.
 * The rest begins with the first tick; what had begun goes on as any interrupted turn does.
 */
export async function skipInterrupted({ store, clock, logger }: RunDeps): Promise<void> {
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
