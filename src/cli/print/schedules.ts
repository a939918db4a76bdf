import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import { notedColumns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns two lines or more for each schedule: its next run and the outcome of the last slot, then how it runs. */
export function printSchedules(schedules: readonly ScheduleSummary[], width: number, style: Style): string[] {
  if (schedules.length === 0) return ['No schedule. config/parley.example.yaml shows how one is written.']
  const [header = '', ...rows] = notedColumns(['SCHEDULE', 'NEXT', 'LAST', 'OUTCOME'], schedules.map(rowOf), width)
  return [style.bold(header), ...rows]
}

function rowOf({ id, paused, nextAt, last, cron, timezone, deliverTo, ...more }: ScheduleSummary) {
  const { when = `${cron} in ${timezone}`, deliverTitle = deliverTo } = more
  const next = paused ? 'paused' : nextAt === undefined ? 'never' : formatTime(nextAt)
  const outcome = last === undefined ? '-' : (last.outcome ?? last.state)
  const lastAt = last === undefined ? '-' : formatTime(last.slotAt)
  return {
    cells: [oneLine(id), next, lastAt, oneLine(outcome)],
    note: oneLine(`${when}, to ${deliverTitle}`),
  }
}

export function printNext(slots: readonly number[]): string[] {
  return slots.length === 0 ? ['It never comes round.'] : slots.map((at) => formatTime(at))
}
