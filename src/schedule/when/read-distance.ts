import { type Distance, unitOf } from './spec.ts'
import type { Unit } from './time-words.ts'
import type { Cursor } from './tokens.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Names the length of each unit that has one. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** Longer ones are no dates that can be written. */
const LONGEST_MS = 1_000 * 366 * DAY_MS
const LONGEST_MONTHS = 12_000

/** Reads `20 minutes`, `2h30m`, `an hour and a half`, `half an hour`, `1.5 hours`, `3 days and 2 hours`. */
export function readDistance(cursor: Cursor): Distance | undefined {
  let [ms, months, calendar, found] = [0, 0, true, false]
  for (;;) {
    const one = cursor.attempt(() => {
      if (found) cursor.take('and', 'comma')
      return readOne(cursor, found)
    })
    if (one === undefined || ms > LONGEST_MS || months > LONGEST_MONTHS)
      return found && one === undefined ? { ms, months, calendar } : undefined
    ms += one.ms
    months += one.months
    calendar &&= one.calendar
    found = true
  }
}

function readOne(cursor: Cursor, isMore: boolean): Distance | undefined {
  const span = cursor.take('span', 'hours')
  if (span?.kind === 'hours') return exactly((span.n + partBehind(cursor)) * HOUR_MS + span.m * MINUTE_MS, false)
  if (span) return exactly(span.n, span.n % DAY_MS === 0)
  const half = isMore ? undefined : cursor.attempt(() => halfUnit(cursor))
  if (half !== undefined) return half
  const count = cursor.count()
  const unit = count === undefined ? undefined : cursor.take('unit')
  if (count === undefined || unit === undefined) return undefined
  return inUnits(count + partBehind(cursor), unitOf(unit.n))
}

/** `et demie`, `y media`, `et quart` behind a unit. */
function partBehind(cursor: Cursor): number {
  if (cursor.take('quarterpast')) return 0.25
  return (cursor.take('halfpast') ?? cursor.attempt(() => andHalf(cursor))) === undefined ? 0 : 0.5
}

/** `and a half` behind a unit. */
function andHalf(cursor: Cursor): true | undefined {
  if (!cursor.take('and')) return undefined
  cursor.take('number')
  return cursor.take('half') && cursor.kind() !== 'unit' && cursor.kind() !== 'past' ? true : undefined
}

/** `half an hour`, `half a day`, `a quarter of an hour`. */
function halfUnit(cursor: Cursor): Distance | undefined {
  if (cursor.kind() === 'number' && ['half', 'quarter'].includes(cursor.kind(1))) cursor.at++
  const part = cursor.take('half', 'quarter')
  if (part === undefined) return undefined
  cursor.take('of')
  cursor.take('number')
  const unit = cursor.take('unit')
  return unit && inUnits(part.kind === 'half' ? 0.5 : 0.25, unitOf(unit.n))
}

function exactly(ms: number, calendar: boolean): Distance {
  return { ms, months: 0, calendar }
}

function inUnits(count: number, unit: Unit): Distance | undefined {
  if (unit === 'month' || unit === 'year') {
    const months = count * (unit === 'year' ? 12 : 1)
    return Number.isInteger(months) ? { ms: 0, months, calendar: true } : undefined
  }
  const isWhole = Number.isInteger(count)
  return exactly(Math.round(count * (UNIT_MS[unit] ?? 0)), isWhole && (unit === 'day' || unit === 'week'))
}
