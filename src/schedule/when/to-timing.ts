import { ParleyError } from '../../core/errors.ts'
import type { Timing } from '../../core/schedule.ts'
import { instantsOf, type WallTime, wallTimeAt } from '../../core/wall-time.ts'
import { nextSlot, nextSlots } from '../slots.ts'
import { UNIT_MS } from './read-distance.ts'
import { type Day, type Distance, isRepeated, type Spec, type TypedHour, type TypedMoment } from './spec.ts'
import type { Unit } from './time-words.ts'

/** When and where a time is read. */
export interface Reading {
  /** Ms since the epoch. */
  readonly now: number
  /** IANA name of the zone of whoever has typed it. */
  readonly timezone: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
/** A day without an hour is nine in the morning. */
const MORNING: TypedHour = { h: 9, m: 0, bare: false }
const NOON = 12
const MONTHS = 12
/** `tomorrow at 5` is in the afternoon, `tomorrow at 7` in the morning. */
const EARLIEST_MORNING = 7
const MOST_TIMES = 100
/** Ends are looked for within so many years. */
const LONGEST_YEARS = 20

/** Returns the times that a phrase means. Throws `invalid`, a question with an example where it has no one meaning. */
export function toTiming(spec: Spec, { now, timezone }: Reading): Timing {
  if (spec.unclear !== undefined) throw ask(spec.unclear)
  const zone = spec.zone ?? timezone
  const here = { zone, now, wall: wallTimeAt(zone, now) }
  if (!isRepeated(spec)) return { at: instantOfSpec(spec, here), timezone: zone }
  if (spec.delay !== undefined)
    throw ask('Once, or again and again? Write `in 2 hours` for the former, and `every 2 hours` for the latter.')
  return bounded(repeated(spec, here), spec, here)
}

interface Here {
  readonly zone: string
  readonly now: number
  readonly wall: WallTime
}

function ask(question: string): ParleyError {
  return new ParleyError('invalid', question)
}

function instantOf(zone: string, wall: WallTime): number {
  return instantsOf(zone, wall)[0]
}

// One time

function instantOfSpec(spec: Spec, here: Here): number {
  const { delay, clocks } = spec
  if (clocks.length > 1)
    throw ask(
      'These are several times; make a reminder for each, such as `today at 8`, or repeat it: `every day at 8 and 20`.',
    )
  return delay === undefined ? instantOfMoment(spec, here) : delayed(delay, spec, here)
}

function delayed(delay: Distance, { clocks: [clock], part }: Spec, { zone, now, wall }: Here): number {
  if (clock === undefined && part === undefined) return later(zone, now, delay)
  if (!delay.calendar) throw ask('Give a distance or an hour, such as `in 2 hours` or `tomorrow at 9`.')
  const day = startOfDay(addDistance(wall, delay))
  return instantOf(zone, day + clockOn(clock, part))
}

/** Whole days and more keep the time of day; what is shorter is counted as it passes. */
function later(zone: string, now: number, delay: Distance): number {
  return delay.calendar ? instantOf(zone, addDistance(wallTimeAt(zone, now), delay)) : now + delay.ms
}

function addDistance(wall: WallTime, { ms, months }: Distance): WallTime {
  return addMonths(wall, months) + ms
}

/** A month later than 31 January is the last day of February. */
function addMonths(wall: WallTime, months: number): WallTime {
  if (months === 0) return wall
  const date = new Date(wall)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months]
  const day = Math.min(date.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate())
  return Date.UTC(year, month, day) + (wall - startOfDay(wall))
}

function startOfDay(wall: WallTime): WallTime {
  return Math.floor(wall / DAY_MS) * DAY_MS
}

/** Returns the instant of a day with its hour, or of the next time that clocks show an hour. */
function instantOfMoment({ day, clocks: [clock], part }: TypedMoment, here: Here): number {
  const { zone, wall } = here
  if (day?.kind === 'iso') return day.zoned ? day.at : instantOf(zone, day.at)
  if (day === undefined) return instantOf(zone, nextClock(clock ?? { ...MORNING, h: part ?? MORNING.h }, part, wall))
  if (clock?.midnight) return instantOf(zone, midnightOf(day, wall))
  const first = firstDay(day, wall)
  const at = first + clockOn(clock, part)
  if (at > wall || isFixed(day)) return instantOf(zone, soonest(at, { day, clock, part, wall }))
  return instantOf(zone, firstDay(day, first + DAY_MS) + clockOn(clock, part))
}

/** True for a day that comes once. */
function isFixed(day: Day): boolean {
  return day.kind === 'rel' || (day.kind === 'date' && day.y > 0)
}

interface OfDay {
  readonly day: Day
  readonly clock: TypedHour | undefined
  readonly part: number | undefined
  readonly wall: WallTime
}

/** `today at 9`, said at noon, is nine in the evening. */
function soonest(at: WallTime, { day, clock, part, wall }: OfDay): WallTime {
  const other = at + NOON * HOUR_MS
  const isOver = at <= wall && other > wall && startOfDay(other) === startOfDay(at)
  return day.kind === 'rel' && clock?.bare === true && part === undefined && isOver ? other : at
}

function midnightOf(day: Day, wall: WallTime): WallTime {
  if (day.kind === 'rel' && day.days === 0) return startOfDay(wall) + DAY_MS
  throw ask('Midnight between which days? Write the hour, such as `friday at 23:59` or `saturday at 00:00`.')
}

/** Returns the first such day from a day on, today included, as the wall time at which it begins. */
function firstDay(day: Day, wall: WallTime): WallTime {
  const today = startOfDay(wall)
  switch (day.kind) {
    case 'rel':
      return today + day.days * DAY_MS
    case 'weekday':
      return addDistance(weekdayFrom(day, today), day.later ?? { ms: 0, months: 0, calendar: true })
    case 'date':
      return onItsWeekday(day.y > 0 ? checkedDate(day.y, day.m, day.d) : nextDate(day, today), day.weekday)
    case 'dom':
      return onItsWeekday(nextDom(day.d, today), day.weekday)
    case 'iso':
      return startOfDay(day.at)
  }
}

/** `next friday` is the one of the following week, which begins on Monday. */
function weekdayFrom({ weekday, next }: Extract<Day, { kind: 'weekday' }>, today: WallTime): WallTime {
  const now = new Date(today).getUTCDay()
  if (!next) return today + ((weekday - now + 7) % 7) * DAY_MS
  const monday = today - ((now + 6) % 7) * DAY_MS + WEEK_MS
  return monday + ((weekday + 6) % 7) * DAY_MS
}

/** `tuesday 8 december` has to be a Tuesday. */
function onItsWeekday(wall: WallTime, weekday: number | undefined): WallTime {
  if (weekday === undefined || new Date(wall).getUTCDay() === weekday) return wall
  const real = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(wall).replace(',', '')
  throw ask(`That day is a ${real}: which one do you mean? Write the date, or the day of the week.`)
}

function checkedDate(year: number, month: number, day: number): WallTime {
  const wall = Date.UTC(year, month - 1, day)
  if (new Date(wall).getUTCDate() !== day) throw ask(`There is no ${day}.${month}.${year}; give a day that exists.`)
  return wall
}

function nextDate({ m, d }: Extract<Day, { kind: 'date' }>, today: WallTime): WallTime {
  const year = new Date(today).getUTCFullYear()
  for (let ahead = 0; ahead <= 8; ahead++) {
    const wall = Date.UTC(year + ahead, m - 1, d)
    if (new Date(wall).getUTCDate() === d && wall >= today) return wall
  }
  throw ask(`There is no day ${d} in that month; give a day that exists.`)
}

function nextDom(day: number, today: WallTime): WallTime {
  const date = new Date(today)
  for (let ahead = 0; ; ahead++) {
    const wall = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, day)
    if (new Date(wall).getUTCDate() === day && wall >= today) return wall
  }
}

/** Returns the ms into a known day. */
function clockOn(clock: TypedHour | undefined, part: number | undefined): number {
  const { h, m } = clock === undefined ? { h: part ?? MORNING.h, m: 0 } : settled(clock, part)
  return h * HOUR_MS + m * MINUTE_MS
}

/** Settles which half of the day an hour of a known day is in. */
function settled(clock: TypedHour, part: number | undefined): TypedHour {
  const { h, m, bare, fixed } = clock
  if (part !== undefined && !fixed && h > 0 && h <= NOON) return inPart(clock, part)
  if (!bare) return clock
  return { h: h < EARLIEST_MORNING ? h + NOON : h, m, bare: false }
}

/** Settles an hour that is said again and again: a wrong half of the day would be wrong each time. */
function settledForGood(clock: TypedHour, part: number | undefined): TypedHour {
  const { h, m, bare } = clock
  if (!bare || part !== undefined || h >= EARLIEST_MORNING) return settled(clock, part)
  const minutes = String(m).padStart(2, '0')
  throw ask(`In the morning or in the afternoon? Write \`${h}:${minutes}am\` or \`${h}:${minutes}pm\`.`)
}

function inPart({ h, m }: TypedHour, part: number): TypedHour {
  if (part < NOON) return { h: h % NOON, m, bare: false }
  if (part > 20 && (h === NOON || h < 5))
    throw ask(`Which night? Write the day and the hour in full, such as \`saturday at 0${h % NOON}:00\`.`)
  return { h: (h % NOON) + NOON, m, bare: false }
}

/** Returns the next time that clocks show an hour; of `at 5` the next of both halves of the day, and 12 is noon. */
function nextClock(clock: TypedHour, part: number | undefined, wall: WallTime): WallTime {
  const isHalf = clock.bare && part === undefined && clock.h !== NOON
  const { h, m } = part === undefined ? clock : settled(clock, part)
  const step = isHalf ? DAY_MS / 2 : DAY_MS
  const first = startOfDay(wall) + (h % 24) * HOUR_MS + m * MINUTE_MS
  const next = first + Math.ceil((wall - first) / step) * step
  return next > wall ? next : next + step
}

// Repetitions

function repeated(given: Spec, here: Here): Timing {
  const spec = inWeeks(given)
  const { repeat, days } = spec
  const unit = repeat?.unit ?? 'week'
  checkUsed(spec, unit)
  switch (unit) {
    case 'second':
    case 'minute':
    case 'hour':
      return withinDay(spec, here)
    case 'day':
      return everyDays(spec, here)
    case 'week':
      return days === undefined ? everyWeeks(spec, here) : onWeekdays(days, spec, here)
    case 'month':
      return monthly(spec, here)
    case 'year':
      return yearly(spec, here)
  }
}

/** `every 14 days on thursday` is every two weeks. */
function inWeeks(spec: Spec): Spec {
  const { repeat, days } = spec
  if (repeat?.unit !== 'day' || days === undefined || repeat.n === 1) return spec
  if (repeat.n % 7 !== 0)
    throw ask('Every so many days, or on these days? Write one of both, such as `every monday at 9`.')
  return { ...spec, repeat: { n: repeat.n / 7, unit: 'week' } }
}

/** Asks about each part that the times would leave out: what was typed has to count. */
function checkUsed({ window, each, starts, day }: Spec, unit: Unit): void {
  const isWithinDay = UNIT_MS[unit] !== undefined && unit !== 'day' && unit !== 'week'
  if (window !== undefined && !isWithinDay)
    throw ask('At which hour? I can repeat something between two hours, such as `every 2 hours from 9 to 17`.')
  if (each !== undefined && unit !== 'day')
    throw ask('On which days? Write them, for example, `every monday and thursday at 9`.')
  if (starts !== undefined && isWithinDay)
    throw ask('From which day on, and at which hour? Write, for example, `every day at 9 starting monday`.')
  if (day !== undefined && (isWithinDay || unit === 'day'))
    throw ask('Once, or each day? Write `tomorrow at 9` for the former, and `every day at 9` for the latter.')
}

function withinDay(spec: Spec, { zone, now }: Here): Timing {
  const { repeat = { n: 1, unit: 'hour' }, days, window, clocks, part, day } = spec
  const ms = Math.round(repeat.n * (UNIT_MS[repeat.unit] ?? 0))
  if (clocks.length > 0 || part !== undefined || day !== undefined)
    throw ask(
      'Every so many hours, or at an hour? Write `every 2 hours`, `every 2 hours from 9 to 17`, or `every day at 9`.',
    )
  if (ms <= 0 || spec.each !== undefined) throw ask('How often? Write, for example, `every 2 hours`.')
  if (window === undefined && days === undefined) return { every: ms, from: now + ms, timezone: zone }
  const hours = ms / HOUR_MS
  if (!Number.isInteger(hours) || hours > 23)
    throw ask('I can do that for whole hours only, such as `every 2 hours from 9 to 17 on weekdays`.')
  const step = hours === 1 ? '' : `/${hours}`
  if (window === undefined) return cron(zone, ['0', `*${step}`, '*', '*', weekdays(days)])
  const [from, to] = window.map((clock) => settled(clock, undefined)) as [TypedHour, TypedHour]
  if (to.h <= from.h) throw ask('The second hour has to be later than the first, such as `every hour from 9 to 17`.')
  return cron(zone, [String(from.m), `${from.h}-${to.h}${step}`, '*', '*', weekdays(days)])
}

function cron(timezone: string, fields: readonly string[]): Timing {
  return { cron: fields.join(' '), timezone }
}

function weekdays(days: readonly number[] | undefined): string {
  if (days === undefined) return '*'
  if (days.length === 0) throw ask('No day is left; name one, such as `every monday at 9`.')
  const sorted = [...days].sort((a, b) => a - b)
  if (sorted.length === 7) return '*'
  return sorted.join(',') === '1,2,3,4,5' ? '1-5' : sorted.join(',')
}

/** Returns the fields of minutes and hours of all hours. */
function cronClocks({ clocks, part, each }: Spec): [minute: string, hour: string] {
  const all =
    clocks.length === 0 ? [{ h: part ?? MORNING.h, m: 0 }] : clocks.map((clock) => settledForGood(clock, part))
  if (each !== undefined && all.length !== each)
    throw ask('At which hours? Write, for example, `every day at 8 and 20`.')
  const minutes = new Set(all.map(({ m }) => m))
  if (minutes.size > 1)
    throw ask(
      'These hours have different minutes; make a reminder for each, such as `every day at 8:30` and `every day at 20:00`.',
    )
  const hours = [...new Set(all.map(({ h }) => h))].sort((a, b) => a - b)
  return [String([...minutes][0]), hours.join(',')]
}

function everyDays(spec: Spec, here: Here): Timing {
  const { repeat, days, clocks, part, starts, counted } = spec
  const n = repeat?.n ?? 1
  if (days !== undefined) return onWeekdays(days, { ...spec, repeat: { n: 1, unit: 'week' } }, here)
  const isFromNow = clocks.length === 0 && part === undefined && starts === undefined
  if (n === 1 && !(counted && isFromNow)) return cron(here.zone, [...cronClocks(spec), '*', '*', '*'])
  return everyFrom(n * DAY_MS, isFromNow ? undefined : firstOf(spec, here), here)
}

function everyWeeks(spec: Spec, here: Here): Timing {
  const { repeat, clocks, part, day } = spec
  const n = repeat?.n ?? 1
  const known = day !== undefined || clocks.length > 0 || part !== undefined || spec.starts !== undefined
  if (day !== undefined && day.kind !== 'weekday' && day.kind !== 'rel')
    throw ask('Give a day of the week, such as `every 2 weeks on monday at 9`.')
  return everyFrom(n * WEEK_MS, known ? firstOf(spec, here) : undefined, here)
}

function everyFrom(every: number, first: number | undefined, { zone, now }: Here): Timing {
  if (every <= 0) throw ask('Give a distance of more than nothing, such as `every 2 days`.')
  return { every, from: first ?? later(zone, now, { ms: every, months: 0, calendar: true }), timezone: zone }
}

/** Returns the first time of something that is said at an hour of every so many days. */
function firstOf(spec: Spec, here: Here): number {
  const { clocks, part, starts } = spec
  if (clocks.length > 1)
    throw ask('Give one hour for something that is not said each day, such as `every 2 days at 9`.')
  const day: Day = spec.day ?? { kind: 'rel', days: 0 }
  const known = clocks.map((clock) => settledForGood(clock, part))
  const at = instantOfMoment({ day, clocks: known, ...(part === undefined ? {} : { part }) }, begun(starts, here))
  return at > here.now ? at : instantOf(here.zone, wallTimeAt(here.zone, at) + DAY_MS)
}

/** Returns the moment at which the first day of a beginning begins; now where that is over, or there is none. */
function begun(starts: TypedMoment | undefined, here: Here): Here {
  if (starts === undefined) return here
  const wall = startOfDay(wallTimeAt(here.zone, instantOfMoment(starts, here)))
  return wall < here.wall ? here : { ...here, wall, now: instantOf(here.zone, wall) }
}

function onWeekdays(days: readonly number[], spec: Spec, here: Here): Timing {
  const n = spec.repeat?.n ?? 1
  if (n === 1) return cron(here.zone, [...cronClocks(spec), '*', '*', weekdays(days)])
  const [weekday] = days
  if (days.length !== 1 || weekday === undefined)
    throw ask('Every so many weeks goes for one day; make a reminder for each, such as `every 2 weeks on monday at 9`.')
  const day = { kind: 'weekday', weekday, next: false, later: undefined } as const
  return everyFrom(n * WEEK_MS, firstOf({ ...spec, day }, here), here)
}

function monthly(spec: Spec, here: Here): Timing {
  const { nth, day } = spec
  const doms = spec.doms ?? (day?.kind === 'dom' ? [day.d] : undefined)
  const [minute, hour] = cronClocks(spec)
  const months = monthsFrom(spec.repeat?.n ?? 1, doms?.[0] ?? 1, spec, here)
  if (nth) return cron(here.zone, [minute, hour, '*', months, nthField(nth)])
  if (doms === undefined) throw ask('On which day of the month? Write, for example, `every month on the 1st at 9`.')
  if (doms.some((dom) => dom === 0 || dom > 31 || dom < -1))
    throw ask('A month has no such day; write, for example, `every month on the 1st at 9`.')
  return cron(here.zone, [minute, hour, doms.map((dom) => (dom === -1 ? 'L' : String(dom))).join(','), months, '*'])
}

function nthField({ no, weekday }: NonNullable<Spec['nth']>): string {
  if (no === -1) return `${weekday}L`
  if (no < 1 || no > 5)
    throw ask('A month has five weeks at most; write, for example, `every first monday of the month at 9`.')
  return `${weekday}#${no}`
}

/** Every third month is counted from the first one that comes. */
function monthsFrom(n: number, dom: number, { clocks, part }: Spec, here: Here): string {
  if (n === 1) return '*'
  if (!Number.isInteger(n) || MONTHS % n !== 0)
    throw ask('I count months that divide a year: every 2, 3, 4, 6 or 12, such as `every 3 months on the 1st at 9`.')
  const day = { kind: 'dom', d: Math.max(dom, 1) } as const
  const at = instantOfMoment({ day, clocks, ...(part === undefined ? {} : { part }) }, here)
  const first = new Date(wallTimeAt(here.zone, at)).getUTCMonth()
  const months = Array.from({ length: MONTHS / n }, (_, no) => ((first + no * n) % MONTHS) + 1)
  return months.sort((a, b) => a - b).join(',')
}

function yearly(spec: Spec, here: Here): Timing {
  const { day, repeat } = spec
  if (day?.kind !== 'date' || repeat?.n !== 1)
    throw ask('On which day of each year? Write, for example, `every year on 24 december at 18:00`.')
  nextDate(day, here.wall)
  const [minute, hour] = cronClocks(spec)
  return cron(here.zone, [minute, hour, String(day.d), String(day.m), '*'])
}

// Ends

function bounded(timing: Timing, spec: Spec, here: Here): Timing {
  const { starts, until, times, lasts } = spec
  const from = begun(starts, here).now
  const begins = 'cron' in timing && from > here.now ? { ...timing, from } : timing
  if (times !== undefined) return { ...begins, until: nthSlot(begins, times, here) }
  const end = until ? endOf(until, here) : lasts && later(here.zone, from, lasts)
  if (end === undefined) return begins
  const ends = { ...begins, until: end }
  if (nextSlots(ends, here.now, 1).length > 0) return ends
  throw ask('That ends before it begins; give a later end, such as `every day at 9 until 5 december`.')
}

function nthSlot(timing: Timing, times: number, { now }: Here): number {
  if (!Number.isInteger(times) || times < 1 || times > MOST_TIMES)
    throw ask(`It can be said between once and ${MOST_TIMES} times, such as \`every day at 9, 10 times\`.`)
  let last = now
  for (let no = 0; no < times; no++) {
    const next = nextSlot(timing, last)
    if (next === undefined || next > now + LONGEST_YEARS * 366 * DAY_MS)
      throw ask(`That is more than ${LONGEST_YEARS} years; say it fewer times.`)
    last = next
  }
  return last
}

/** A day without an hour ends with it. */
function endOf(until: TypedMoment, here: Here): number {
  if (until.clocks.length > 0 || until.part !== undefined || until.day === undefined || until.day.kind === 'iso')
    return instantOfMoment(until, here)
  return instantOf(here.zone, firstDay(until.day, here.wall) + DAY_MS) - 1
}
