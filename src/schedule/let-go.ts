import type { ScheduleId } from '../core/ids.ts'
import type { StoreWriter } from '../store/store.ts'

/** Ends slots that were claimed and have not begun. A run that has begun continues to its end. */
export async function letGo(
  tx: StoreWriter,
  id: ScheduleId,
  { outcome, at }: { readonly outcome: string; readonly at: number },
): Promise<void> {
  for (const { scheduleId, traceId } of await tx.schedules.claimed()) {
    if (scheduleId !== id || traceId === undefined || (await tx.inbox.find(traceId)).length > 0) continue
    await tx.schedules.endSlot(traceId, { state: 'skipped', outcome, at })
  }
}
