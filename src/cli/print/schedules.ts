import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns one line for each schedule: its next run and the outcome of the last slot. */
export function printSchedules(schedules: readonly ScheduleSummary[], style: Style): string[] {
  if (schedules.length === 0) return ['No schedule. config/parley.example.yaml shows how one is written.']
  const [header = '', ...rows] = columns([
    ['SCHEDULE', 'NEXT', 'LAST', 'OUTCOME', 'CRON', 'ZONE', 'DELIVERS TO'],
    ...schedules.map(row),
  ])
  return [style.bold(header), ...rows]
}

function row({ id, paused, nextAt, last, cron, timezone, deliverTo, deliverTitle }: ScheduleSummary): string[] {
  const next = paused ? 'paused' : nextAt === undefined ? 'never' : formatTime(nextAt)
  const outcome = last === undefined ? '-' : (last.outcome ?? last.state)
  const lastAt = last === undefined ? '-' : formatTime(last.slotAt)
  return [id, next, lastAt, outcome, cron, timezone, deliverTitle ?? deliverTo].map(oneLine)
}

export function printNext(slots: readonly number[]): string[] {
  return slots.length === 0 ? ['It never comes round.'] : slots.map((at) => formatTime(at))
}
