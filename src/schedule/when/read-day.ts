import { readDistance } from './read-distance.ts'
import { type Day, type Distance, unitOf } from './spec.ts'
import type { Language } from './time-words.ts'
import type { Cursor, Token } from './tokens.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
const WEEK_UNIT = 5
const LAST_DAY = 31

export interface DayOptions {
  /** `12/5` is 12 May in every language but English. */
  readonly language: Language
}

/** A day, and the question that it leaves open. */
export interface FoundDay {
  readonly day: Day
  readonly unclear?: string
}

/** Reads a day: `tomorrow`, `next friday`, `5 december`, `am 5.`, `2026-12-05`, `a week from monday`. */
export function readDay(cursor: Cursor, options: DayOptions): FoundDay | undefined {
  return cursor.first(
    () => laterDay(cursor, options),
    () => dayOf(cursor, options),
  )
}

/** `a week from monday`, `two weeks from tomorrow`. */
function laterDay(cursor: Cursor, options: DayOptions): FoundDay | undefined {
  const later = readDistance(cursor)
  if (later === undefined || !later.calendar || later.months > 0 || !cursor.take('from', 'past')) return undefined
  const day = dayOf(cursor, options)?.day
  if (day?.kind === 'rel') return { day: { ...day, days: day.days + Math.round(later.ms / DAY_MS) } }
  return day?.kind === 'weekday' ? { day: { ...day, later } } : undefined
}

function dayOf(cursor: Cursor, options: DayOptions): FoundDay | undefined {
  const isOn = cursor.take('on', 'at') !== undefined
  const isThe = cursor.take('the') !== undefined
  const rel = cursor.take('rel')
  if (rel) return { day: { kind: 'rel', days: rel.n } }
  return cursor.first(
    () => weekdayOf(cursor, isOn),
    () => readDate(cursor, options),
    () => dayOfSomeMonth(cursor, isOn, isThe),
    () => nextPeriod(cursor),
  )
}

function weekdayOf(cursor: Cursor, isOn: boolean): FoundDay | undefined {
  const week = cursor.attempt(() => inWeek(cursor))
  const before = week === undefined ? cursor.take('next', 'coming', 'this') : undefined
  const named = cursor.take('weekday') ?? shortDay(cursor, isOn || before !== undefined || week !== undefined)
  if (named === undefined) return undefined
  const behind = cursor.attempt(() => {
    cursor.take('of')
    cursor.take('the')
    return inWeek(cursor)
  })
  const after = before || week || behind ? undefined : cursor.take('next', 'coming')
  const next = [before?.kind, after?.kind, week, behind].includes('next')
  return { day: { kind: 'weekday', weekday: named.n, next, later: weeksLater(cursor) } }
}

/** `next week`, `semana que viene`; `this week` says nothing. */
function inWeek(cursor: Cursor): 'next' | 'this' | undefined {
  const before = cursor.take('next', 'coming', 'this')
  if (cursor.take('unit')?.n !== WEEK_UNIT) return undefined
  const which = before ?? cursor.take('next', 'coming')
  return which === undefined ? undefined : which.kind === 'this' ? 'this' : 'next'
}

/** `monday in two weeks`, `monday week`. */
function weeksLater(cursor: Cursor): Distance | undefined {
  return cursor.first(
    () => {
      const found = cursor.take('in') ? readDistance(cursor) : undefined
      return found?.calendar && found.ms % WEEK_MS === 0 ? found : undefined
    },
    () => (cursor.take('unit')?.n === WEEK_UNIT ? { ms: WEEK_MS, months: 0, calendar: true } : undefined),
  )
}

/** `sun` and `sat` are words, too: they are days behind `on` and the like, and before an hour. */
function shortDay(cursor: Cursor, isDay: boolean): Token | undefined {
  const isBeforeHour =
    ['at', 'clock', 'part', 'comma', 'hours'].includes(cursor.kind(1)) ||
    ['oclock', 'am', 'pm'].includes(cursor.kind(2))
  return isDay || isBeforeHour || cursor.at > cursor.begin ? cursor.take('short') : undefined
}

/** Reads a date: `5 december`, `Dec 5th, 2026`, `5.12.`, `2026-12-05T17:00`. */
export function readDate(cursor: Cursor, { language }: DayOptions): FoundDay | undefined {
  const found = cursor.take('date', 'iso', 'slashed')
  if (found?.kind === 'iso') return { day: { kind: 'iso', at: found.n, zoned: found.m === 1 } }
  if (found?.kind === 'date') return { day: { kind: 'date', y: found.n, m: found.m, d: found.d } }
  if (found) {
    const day = { kind: 'date', y: found.n, m: found.d, d: found.m } as const
    const unclear = `"${found.word}" is read in two ways; write the name of the month, such as \`5 december\`.`
    return language !== 'en' ? { day } : { day, unclear }
  }
  const day = cursor.first(
    () => dayAndMonth(cursor),
    () => monthAndDay(cursor),
  )
  return day && { day }
}

/** `5 december`, `5th of december 2026`, `5. Dezember`, `1er mai`. */
function dayAndMonth(cursor: Cursor): Day | undefined {
  const day = cursor.take('ordinal', 'digits', 'number')
  if (day === undefined || day.n < 1 || day.n > LAST_DAY) return undefined
  cursor.take('of')
  const month = cursor.take('month')
  if (month === undefined) return undefined
  cursor.attempt(() => (cursor.take('of') && cursor.kind() === 'digits' ? true : undefined))
  return { kind: 'date', y: yearOf(cursor), m: month.n, d: day.n }
}

/** `december 5`, `Dec 5th, 2026`. */
function monthAndDay(cursor: Cursor): Day | undefined {
  const month = cursor.take('month')
  cursor.take('the')
  const day = month && cursor.take('ordinal', 'digits')
  if (month === undefined || day === undefined || day.n < 1 || day.n > LAST_DAY || cursor.kind() === 'unit')
    return undefined
  return { kind: 'date', y: yearOf(cursor), m: month.n, d: day.n }
}

/** Returns the year behind a date, or 0. */
function yearOf(cursor: Cursor): number {
  const year = cursor.attempt(() => {
    cursor.take('comma')
    const token = cursor.take('digits')
    return token && token.d === 4 && token.n >= 2000 && token.n < 2200 ? token.n : undefined
  })
  return year ?? 0
}

/** `on the 5th`, `am 5.`, `le 5`, `el 5`. */
function dayOfSomeMonth(cursor: Cursor, isOn: boolean, isThe: boolean): FoundDay | undefined {
  if (!isOn && !isThe) return undefined
  const day = cursor.take('ordinal', ...(isThe ? ['digits'] : []))
  if (day === undefined || day.n < 1 || day.n > LAST_DAY || (day.kind === 'ordinal' && day.m === 0)) return undefined
  const isDay = !['unit', 'month', 'oclock', 'weekday'].includes(cursor.kind())
  return isDay ? { day: { kind: 'dom', d: day.n } } : undefined
}

/** `next week` names no day. */
function nextPeriod(cursor: Cursor): FoundDay | undefined {
  const before = cursor.take('next', 'coming', 'this')
  if (before && cursor.take('weekdays'))
    return { day: { kind: 'rel', days: 0 }, unclear: 'On which day? Write one, such as `saturday at 10`.' }
  const unit = cursor.take('unit')
  if (unit === undefined || (before ?? cursor.take('next', 'coming')) === undefined) return undefined
  const name = unitOf(unit.n)
  if (!['week', 'month', 'year'].includes(name)) return undefined
  const unclear = `On which day of ${before?.kind === 'this' ? 'this' : 'the next'} ${name}? Write a day, such as \`next monday at 9\` or \`5 december at 9\`.`
  return { day: { kind: 'rel', days: 0 }, unclear }
}
