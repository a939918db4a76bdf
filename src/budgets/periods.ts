import type { CalendarPeriod } from '../core/budget.ts'
import { instantsOf, wallTimeAt } from '../core/wall-time.ts'

/** A day or a month of a zone. */
export interface PeriodAt {
  /** `2026-11-26` or `2026-11`: by the calendar of the zone, whatever its clocks do. */
  readonly name: string
  /** The first moment of the next one, ms since the epoch. */
  readonly endsAt: number
}

/** Returns the period in which an instant lies. A day of a clock change has 23 or 25 hours. */
export function periodAt(timezone: string, instant: number, period: CalendarPeriod): PeriodAt {
  const wall = new Date(wallTimeAt(timezone, instant))
  const [year, month] = [wall.getUTCFullYear(), wall.getUTCMonth()]
  const next = period === 'day' ? Date.UTC(year, month, wall.getUTCDate() + 1) : Date.UTC(year, month + 1, 1)
  const iso = wall.toISOString()
  // If midnight comes twice, the day ends with the first one: from then on the clocks show the next day.
  return { name: iso.slice(0, period === 'day' ? 10 : 7), endsAt: instantsOf(timezone, next)[0] }
}
