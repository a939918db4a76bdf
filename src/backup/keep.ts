import { KEEP_UNITS, type KeepRule, type KeepUnit } from '../core/backup.ts'
import { ParleyError } from '../core/errors.ts'

const MOST = 1_000

/** Reads a rule as `7d,4w,12m`. Throws `invalid` for any other text. */
export function parseKeep(text: string): KeepRule {
  const rule: Partial<Record<KeepUnit, number>> = {}
  for (const part of text.split(',')) {
    const [, digits, unit] = /^\s*(\d{1,4})\s*([hdwmy])\s*$/.exec(part) ?? []
    const count = Number(digits)
    if (unit === undefined || !(count >= 1 && count <= MOST) || unit in rule)
      throw new ParleyError(
        'invalid',
        `keep: "${text}" is no rule; write numbers of h, d, w, m or y once each: 7d,4w,12m`,
      )
    rule[unit as KeepUnit] = count
  }
  return rule
}

export interface DatedCopy {
  /** Ms since the epoch. */
  readonly madeAt: number
}

/**
 * Pure: returns the copies that a rule removes. The newest copy of each hour, day, week, month and year counts, and so
 * many of the newest of these are kept, as restic does it: periods without a copy do not count, so that neither a long
 * stop nor a clock that was wrong makes all copies old. The newest copy is always kept.
 */
export function surplus<Copy extends DatedCopy>(copies: readonly Copy[], rule: KeepRule): readonly Copy[] {
  const newestFirst = copies.toSorted((one, other) => other.madeAt - one.madeAt)
  const kept = new Set<Copy>(newestFirst.slice(0, 1))
  for (const unit of KEEP_UNITS) {
    const newest = new Map<string, Copy>()
    for (const copy of newestFirst) {
      const period = PERIOD_OF[unit](new Date(copy.madeAt))
      if (!newest.has(period)) newest.set(period, copy)
    }
    for (const copy of [...newest.values()].slice(0, rule[unit] ?? 0)) kept.add(copy)
  }
  return newestFirst.filter((copy) => !kept.has(copy))
}

/** The period of a time in the zone of the machine; the hour in UTC, for one of them comes twice in autumn. */
const PERIOD_OF: Readonly<Record<KeepUnit, (at: Date) => string>> = {
  h: (at) => at.toISOString().slice(0, 13),
  d: (at) => `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`,
  w: weekOf,
  m: (at) => `${at.getFullYear()}-${at.getMonth()}`,
  y: (at) => `${at.getFullYear()}`,
}

/** Returns the Monday of the week of a time. */
function weekOf(at: Date): string {
  const monday = new Date(at.getFullYear(), at.getMonth(), at.getDate() - ((at.getDay() + 6) % 7))
  return `${monday.getFullYear()}-${monday.getMonth()}-${monday.getDate()}`
}
