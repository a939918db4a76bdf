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
  /** A word before it says that a number is a day: `hasta el 5`. */
  readonly isDay?: boolean
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
  const the = cursor.take('the')
  // `La 1` is a channel.
  const isThe =
    the === undefined ? options.isDay === true && cursor.at === cursor.begin : !/^(?:la|los|las|les)$/i.test(the.word)
  const rel = cursor.take('rel')
  if (rel) return { day: { kind: 'rel', days: rel.n } }
  return cursor.first(
    () => weekdayOf(cursor, isOn, { ...options, isThe: the !== undefined }),
    () => readDate(cursor, options),
    () => dayOfSomeMonth(cursor, isOn, isThe),
    () => nextPeriod(cursor),
  )
}

function weekdayOf(cursor: Cursor, isOn: boolean, options: DayOptions & { isThe: boolean }): FoundDay | undefined {
  const week = cursor.attempt(() => inWeek(cursor))
  const before = week === undefined ? cursor.take('next', 'coming', 'this') : undefined
  const named =
    cursor.take('weekday') ??
    (options.isThe && !isOn ? undefined : shortDay(cursor, isOn || before !== undefined || week !== undefined))
  if (named === undefined) return undefined
  const dated = before || week ? undefined : cursor.attempt(() => dateBehind(cursor, named, options))
  if (dated !== undefined) return dated
  const behind = cursor.attempt(() => {
    cursor.take('of')
    cursor.take('the')
    return inWeek(cursor)
  })
  const after = before || week || behind ? undefined : cursor.take('next', 'coming')
  const next = [before?.kind, after?.kind, week, behind].includes('next')
  const day = { kind: 'weekday', weekday: named.n, next, later: weeksLater(cursor) } as const
  const isName = named.kind === 'short' && options.language !== 'en' && !isOn && cursor.begin > 0 && !before && !week
  if (!isName) return { day }
  return { day, unclear: `Is "${named.word}" a day? Write its whole name where it is, such as \`monday\`.` }
}

/** The date behind a weekday: `tuesday 8 december`, `Mo 14.12.`, `lundi 7`, `friday the 11th`. */
function dateBehind(cursor: Cursor, { n: weekday }: Token, options: DayOptions): FoundDay | undefined {
  cursor.take('comma')
  cursor.take('on', 'the')
  cursor.take('the')
  const found = cursor.attempt(() => readDate(cursor, options))
  if (found?.day.kind === 'date') return { ...found, day: { ...found.day, weekday } }
  if (found !== undefined) return undefined
  const dom = cursor.take('ordinal', ...(options.language === 'en' ? [] : ['digits']))
  if (dom === undefined || dom.n < 1 || dom.n > LAST_DAY || (dom.kind === 'ordinal' && dom.m === 0)) return undefined
  const isDay = dom.kind === 'ordinal' || ['at', 'comma', 'clock', ''].includes(cursor.kind())
  return isDay ? { day: { kind: 'dom', d: dom.n, weekday } } : undefined
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
  // `so` and `do` are words of English and German before they are days.
  if (/^(?:so|do)$/.test(cursor.peek()?.word ?? '') && !isDay) return undefined
  const isBeforeHour =
    ['at', 'clock', 'part', 'comma', 'hours', 'date'].includes(cursor.kind(1)) ||
    ['oclock', 'am', 'pm', 'month'].includes(cursor.kind(2))
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
  if (cursor.take('weekend', ...(before ? ['weekdays'] : [])))
    return { day: { kind: 'rel', days: 0 }, unclear: 'On which day? Write one, such as `saturday at 10`.' }
  const unit = cursor.take('unit')
  if (unit === undefined || (before ?? cursor.take('next', 'coming')) === undefined) return undefined
  const name = unitOf(unit.n)
  if (!['week', 'month', 'year'].includes(name)) return undefined
  const unclear = `On which day of ${before?.kind === 'this' ? 'this' : 'the next'} ${name}? Write a day, such as \`next monday at 9\` or \`5 december at 9\`.`
  return { day: { kind: 'rel', days: 0 }, unclear }
}
