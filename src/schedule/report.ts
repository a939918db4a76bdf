import { formatAddress } from '../core/address.ts'
import { ParleyError } from '../core/errors.ts'
import { type ScheduleId, toScheduleId } from '../core/ids.ts'
import type { ScheduleRunReport, ScheduleSummary } from '../core/operate-schedules.ts'
import { formatMissed, formatTiming, type Schedule, type ScheduleSlot } from '../core/schedule.ts'
import type { Store } from '../store/store.ts'
import { nextSlot, nextSlots } from './slots.ts'
import { timesInWords } from './when-words.ts'

type Read = Store['read']

export async function listSchedules({ schedules }: Read, now: number): Promise<readonly ScheduleSummary[]> {
  const all = await schedules.all()
  return Promise.all(all.map(async (schedule) => summary(schedule, (await schedules.recent(schedule.id, 1))[0], now)))
}

/** Throws `not_found`. */
export async function summaryOf({ schedules }: Read, id: ScheduleId, now: number): Promise<ScheduleSummary> {
  const schedule = await schedules.get(id)
  if (schedule) return summary(schedule, (await schedules.recent(id, 1))[0], now)
  throw new ParleyError('not_found', `There is no schedule ${id}.`)
}

/** Returns the next `count` slots after now. Throws `not_found`, or `invalid` for a count that is not 1 to 100. */
export async function nextOf(
  { schedules }: Read,
  id: string,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<readonly number[]> {
  if (!Number.isInteger(count) || count < 1 || count > 100) throw new ParleyError('invalid', 'count must be 1 to 100')
  const schedule = await schedules.get(toScheduleId(id))
  if (!schedule) throw new ParleyError('not_found', `There is no schedule ${id}.`)
  return nextSlots(schedule.definition, now, count)
}

function summary(
  { id, source, definition, paused }: Schedule,
  last: ScheduleSlot | undefined,
  now: number,
): ScheduleSummary {
  const { timezone, agent, prompt, digestOf, deliverTo, missed, overlap } = definition
  const nextAt = paused ? undefined : nextSlot(definition, now)
  return {
    id,
    source,
    cron: formatTiming(definition),
    when: timesInWords(definition),
    timezone,
    ...(agent === undefined ? {} : { agent }),
    prompt,
    ...(digestOf === undefined ? {} : { digestOf: formatAddress(digestOf) }),
    deliverTo: formatAddress(deliverTo),
    missed: formatMissed(missed),
    overlap,
    paused,
    ...(nextAt === undefined ? {} : { nextAt }),
    ...(last === undefined ? {} : { last: runReport(last) }),
  }
}

function runReport({ slotAt, state, outcome, traceId }: ScheduleSlot): ScheduleRunReport {
  return {
    slotAt,
    state,
    ...(outcome === undefined ? {} : { outcome }),
    ...(traceId === undefined ? {} : { traceId }),
  }
}
