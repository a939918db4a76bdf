import { type DayOptions, readDate } from './read-day.ts'
import { readDistance } from './read-distance.ts'
import { isRepeated, type Spec, unitOf } from './spec.ts'
import type { Cursor } from './tokens.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
const WEEK = [0, 1, 2, 3, 4, 5, 6] as const
const TWO_WEEKS = 8
const MONTHLY = { n: 1, unit: 'month' } as const

/** The part of a phrase that says how often; what it reads of it goes into a `Spec`. */
type Repetition = Partial<Spec>

/**
 * Reads a part that says how often: `every 2 hours`, `mondays`, `every first monday of the month`; behind one that was
 * read already what may follow it: `every hour on weekdays`, `monthly on the 1st`.
 */
export function readRepetition(cursor: Cursor, spec: Spec, options: DayOptions): Repetition | undefined {
  const { repeat, days, nth, doms } = spec
  if (!isRepeated(spec))
    return cursor.first(
      () => often(cursor),
      () => timesEach(cursor),
      () => every(cursor, options),
      () => onDays(cursor, false),
      () => ofMonth(cursor, false),
    )
  if (repeat === undefined || days !== undefined) return undefined
  const more = cursor.attempt(() => onDays(cursor, true))
  if (more !== undefined || repeat.unit !== 'month' || (nth ?? doms) !== undefined) return more
  return cursor.attempt(() => ofMonth(cursor, true))
}

/** Reads `except sunday` behind days. */
export function readExcept(cursor: Cursor, { repeat, days }: Spec): Repetition | undefined {
  if (repeat?.unit !== 'day' && days === undefined) return undefined
  const all = days ?? WEEK
  const left = without(cursor, all)
  return left === all ? undefined : { days: left }
}

const HOW_OFTEN =
  'Do you mean every two weeks, or twice a week? Write `every 2 weeks on monday at 9`, or `every monday and thursday at 9`.'

function often(cursor: Cursor): Repetition | undefined {
  if (cursor.take('unclear')) return { unclear: HOW_OFTEN, repeat: { n: 1, unit: 'week' } }
  const word = cursor.take('often')
  if (word === undefined) return undefined
  return { repeat: word.n === TWO_WEEKS ? { n: 2, unit: 'week' } : { n: 1, unit: unitOf(word.n) } }
}

/** `once a week`, `twice a day`, `deux fois par jour`, `zweimal am Tag`. */
function timesEach(cursor: Cursor): Repetition | undefined {
  const count = cursor.count()
  const times = cursor.take('times')
  const each = count ?? times?.n
  if (times === undefined || each === undefined || each < 1) return undefined
  const before = cursor.take('number', 'per', 'every', 'on')
  const unit = before ? cursor.take('unit') : cursor.take('often')
  if (unit === undefined) return undefined
  return { repeat: { n: 1, unit: unitOf(unit.n) }, ...(each > 1 ? { each } : {}) }
}

function every(cursor: Cursor, options: DayOptions): Repetition | undefined {
  cursor.take('on')
  if (cursor.take('every') === undefined) return undefined
  return cursor.first(
    () => everyOther(cursor),
    () => everyOrdinal(cursor),
    () => everySpan(cursor),
    () => everyDate(cursor, options),
    () => everyListed(cursor),
    () => everyPart(cursor),
  )
}

function everyOther(cursor: Cursor): Repetition | undefined {
  const found = cursor.take('other') && eachOf(cursor, 2)
  const [weekday] = found?.days ?? []
  return weekday !== undefined && ofEachMonth(cursor) ? { nth: { no: 2, weekday }, repeat: MONTHLY } : found
}

/** A unit, or a weekday, of which each n-th is meant. */
function eachOf(cursor: Cursor, n: number): Repetition | undefined {
  const unit = cursor.take('unit')
  if (unit) return { repeat: { n, unit: unitOf(unit.n) } }
  const day = cursor.take('weekday', 'short', 'each')
  return day && { days: [day.n], repeat: { n, unit: 'week' } }
}

/** `every 2nd day`, `every first monday of the month`, `every 1st and 15th`. */
function everyOrdinal(cursor: Cursor): Repetition | undefined {
  const ordinal = cursor.take('ordinal')
  if (ordinal === undefined) return undefined
  const unit = cursor.kind() === 'unit' ? cursor.peek() : undefined
  if (unit !== undefined && ordinal.n > 0) return eachOf(cursor, ordinal.n)
  if (unit !== undefined && unitOf(unit.n) === 'day') {
    cursor.at++
    ofEachMonth(cursor)
    return { doms: [-1], repeat: MONTHLY }
  }
  const weekday = cursor.take('weekday', 'short', 'each')
  if (weekday) return everyNth(ordinal.n, weekday.n, ofEachMonth(cursor))
  const doms = moreOrdinals(cursor, ordinal.n)
  ofEachMonth(cursor)
  return ordinal.m === 0 || cursor.kind() === 'month' ? undefined : { doms, repeat: MONTHLY }
}

function everyNth(no: number, weekday: number, isMonthly: boolean): Repetition {
  const found = { nth: { no, weekday }, repeat: MONTHLY }
  if (no !== 2 || isMonthly) return found
  const unclear =
    'Do you mean every other week, or the second one of each month? Write `every other monday at 9`, or `every second monday of the month at 9`.'
  return { ...found, unclear }
}

function moreOrdinals(cursor: Cursor, first: number): readonly number[] {
  const all = [first]
  for (;;) {
    const next = cursor.attempt(() => (cursor.take('and', 'comma') ? cursor.take('ordinal') : undefined))
    if (next === undefined) return all
    all.push(next.n)
  }
}

/** Reads `of the month`, `of every month`, `im Monat`; returns whether it stands there. */
function ofEachMonth(cursor: Cursor): boolean {
  const found = cursor.attempt(() => {
    if (!cursor.take('of', 'in')) return undefined
    cursor.take('the')
    cursor.take('every')
    const unit = cursor.take('unit')
    return unit && unitOf(unit.n) === 'month' ? true : undefined
  })
  return found === true
}

/** `every day`, `every 2 hours`, `every half hour`, `every 2h`, `every 2 weeks`, `every 2 mondays`. */
function everySpan(cursor: Cursor): Repetition | undefined {
  const unit = cursor.take('unit')
  if (unit) return { repeat: { n: 1, unit: unitOf(unit.n) } }
  const counted = cursor.attempt(() => {
    const n = cursor.count()
    const found = n !== undefined && Number.isInteger(n) ? eachOf(cursor, n) : undefined
    const isMore = cursor.kind() === 'halfpast' || (cursor.kind() === 'and' && found?.days === undefined)
    return found && !isMore ? { ...found, counted: true as const } : undefined
  })
  if (counted !== undefined) return counted
  const span = readDistance(cursor)
  if (span === undefined || (span.months > 0 && span.ms > 0)) return undefined
  if (span.months > 0) return { repeat: { n: span.months, unit: 'month' } }
  const minutes = span.ms / MINUTE_MS
  const repeat = span.calendar
    ? ({ n: minutes / DAY_MINUTES, unit: 'day' } as const)
    : ({ n: minutes, unit: 'minute' } as const)
  return { repeat, counted: true }
}

/** `every 5 december`, `every december 24th`. */
function everyDate(cursor: Cursor, options: DayOptions): Repetition | undefined {
  const day = readDate(cursor, options)?.day
  return day?.kind === 'date' && day.y === 0 ? { day, repeat: { n: 1, unit: 'year' } } : undefined
}

function everyListed(cursor: Cursor): Repetition | undefined {
  const list = listOfDays(cursor)
  return list && { days: without(cursor, list.days) }
}

/** `every morning`, `every noon`: each day at that time, which is read behind this. */
function everyPart(cursor: Cursor): Repetition | undefined {
  return ['part', 'noon', 'midnight'].includes(cursor.kind()) ? { repeat: { n: 1, unit: 'day' } } : undefined
}

const ONCE_OR_EACH =
  'Once on each of these days, or again and again? Write `every monday and thursday at 9` for the latter, and two reminders for the former.'

/** `monday to friday`, `mondays and thursdays`, `on weekdays`; two days without `every` have no one meaning. */
function onDays(cursor: Cursor, isKnown: boolean): Repetition | undefined {
  cursor.take('on', 'of', 'from')
  cursor.take('the')
  const isMany = isKnown || cursor.kind() === 'each' || cursor.kind() === 'weekdays'
  const list = listOfDays(cursor)
  if (list === undefined || (list.days.length < 2 && !isMany)) return undefined
  const days = without(cursor, list.days)
  return isMany || list.isRange ? { days } : { days, unclear: ONCE_OR_EACH }
}

interface ListedDays {
  readonly days: readonly number[]
  readonly isRange: boolean
}

/** Reads days of the week with `and`, commas and `to` between them. */
function listOfDays(cursor: Cursor): ListedDays | undefined {
  const days: number[] = []
  let isRange = false
  for (;;) {
    const more = cursor.attempt(() =>
      days.length > 0 && !cursor.take('and', 'comma') ? undefined : daysOfWeek(cursor),
    )
    if (more === undefined) break
    days.push(...more.days)
    isRange ||= more.isRange
  }
  return days.length === 0 ? undefined : { days: [...new Set(days)], isRange }
}

function daysOfWeek(cursor: Cursor): ListedDays | undefined {
  cursor.take('and')
  cursor.take('on')
  const set = cursor.take('weekdays', 'weekend')
  if (set) return { days: set.n === 2 ? [0, 6] : [1, 2, 3, 4, 5], isRange: false }
  const first = cursor.take('weekday', 'each', 'short')
  if (first === undefined) return undefined
  // `a` is both `to` and `at` in French and Spanish.
  const last = cursor.attempt(() =>
    cursor.take('to', 'at', 'until') ? cursor.take('weekday', 'each', 'short') : undefined,
  )
  return last === undefined
    ? { days: [first.n], isRange: false }
    : { days: daysBetween(first.n, last.n), isRange: true }
}

function daysBetween(first: number, last: number): readonly number[] {
  const length = ((last - first + WEEK.length) % WEEK.length) + 1
  return Array.from({ length }, (_, at) => (first + at) % WEEK.length)
}

/** Takes away the days behind `except`; returns the same list where it is not there. */
function without(cursor: Cursor, days: readonly number[]): readonly number[] {
  const out = cursor.attempt(() => {
    cursor.take('comma')
    return cursor.take('except') ? listOfDays(cursor) : undefined
  })
  return out === undefined ? days : days.filter((day) => !out.days.includes(day))
}

const ONCE_OR_MONTHLY =
  'Once, or each month? Write `every month on the 5th at 9` for the latter, and a date such as `5 december at 9` for the former.'

/** `the first monday of every month`, `on the 15th of each month`; `on the 1st` where it is known to be monthly. */
function ofMonth(cursor: Cursor, isKnown: boolean): Repetition | undefined {
  cursor.take('on')
  cursor.take('the')
  const ordinal = cursor.take('ordinal', ...(isKnown ? ['digits'] : []))
  if (ordinal === undefined || cursor.kind() === 'month') return undefined
  const weekday = cursor.take('weekday', 'short', 'each')
  const isLastDay = weekday === undefined && ordinal.n === -1 && cursor.take('unit') !== undefined
  const doms = weekday || isLastDay ? [ordinal.n] : moreOrdinals(cursor, ordinal.n)
  const begin = cursor.at
  const isMonthly = ofEachMonth(cursor)
  if (!isMonthly && !isKnown) return undefined
  const isEach = isKnown || cursor.tokens.slice(begin, cursor.at).some(({ kind }) => kind === 'every')
  return {
    ...(weekday ? { nth: { no: ordinal.n, weekday: weekday.n } } : { doms }),
    ...(isKnown ? {} : { repeat: MONTHLY }),
    ...(isEach ? {} : { unclear: ONCE_OR_MONTHLY }),
  }
}
