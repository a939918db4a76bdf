import { type CronExpression, CronExpressionParser } from 'cron-parser'
import type { Timing } from '../core/schedule.ts'
import { instantsOf, type WallTime, wallTimeAt } from '../core/wall-time.ts'

/** The times of an expression of five fields, or of an alias such as `@daily`, in an IANA zone. */
type CronTiming = Extract<Timing, { readonly cron: string }>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** More than any zone's clocks jump; a slot at this distance cannot change places with another. */
const JUMP_MS = 3 * HOUR_MS
const HOURS_OF_DAY = 24

/**
 * Returns the first slot after an instant; undefined if there is none within ten years. On the two days a year with a
 * clock change, a wall time that is skipped runs as much later as the clocks jump (02:30 at 03:30); one that comes
 * twice runs the first time only, except where the expression names every hour: every 15 minutes continues through the
 * repeated hour. Slots do not depend on where counting begins, so a restart at any time finds the same.
 */
export function nextSlot(timing: Timing, after: number): number | undefined {
  if ('at' in timing) return timing.at > after ? timing.at : undefined
  const next =
    'cron' in timing
      ? nextWallSlot(timing, Math.max(after, (timing.from ?? Number.NEGATIVE_INFINITY) - 1))
      : intervalSlot(timing, intervalsUntil(timing, after) + 1)
  return next !== undefined && next <= (timing.until ?? next) ? next : undefined
}

type IntervalTiming = Extract<Timing, { readonly every: number }>

/**
 * Returns the slot of a number; the first has 0. Whole days are counted by the calendar: each has the same wall time.
 */
function intervalSlot({ every, from, timezone }: IntervalTiming, no: number): number {
  if (no === 0 || every % DAY_MS !== 0) return from + no * every
  return instantsOf(timezone, wallTimeAt(timezone, from) + no * every)[0]
}

/** Returns the number of the newest slot up to an instant; -1 before the first. */
function intervalsUntil(timing: IntervalTiming, instant: number): number {
  if (instant < timing.from) return -1
  const about = Math.floor((instant - timing.from) / timing.every)
  if (intervalSlot(timing, about) > instant) return about - 1
  return intervalSlot(timing, about + 1) <= instant ? about + 1 : about
}

function nextWallSlot(timing: CronTiming, after: number): number | undefined {
  const wall = wallTimeAt(timing.timezone, after)
  let first: number | undefined
  for (const { at, slots } of slotsFrom(timing, wall - disorderAt(timing, after))) {
    if (at > wall + MOST_AHEAD_MS) break
    if (first !== undefined && at > wallTimeAt(timing.timezone, first) + disorderAt(timing, first)) break
    for (const slot of slots) if (slot > after && (first === undefined || slot < first)) first = slot
  }
  return first
}

const MOST_AHEAD_MS = 10 * 366 * DAY_MS

/** Returns how far wall times around an instant may be out of the order of their instants; 0 where no clock changes. */
function disorderAt({ timezone }: CronTiming, instant: number): number {
  const [before, after] = [instant - JUMP_MS, instant + JUMP_MS]
  return wallTimeAt(timezone, after) - wallTimeAt(timezone, before) === after - before ? 0 : JUMP_MS
}

/** Returns the slots after an instant, in order, at most `count`. */
export function nextSlots(timing: Timing, after: number, count: number): readonly number[] {
  const found: number[] = []
  for (let slot = nextSlot(timing, after); slot !== undefined; slot = nextSlot(timing, slot)) {
    if (found.push(slot) >= count) break
  }
  return found
}

/** Returns the slots with `after` < slot ≤ `until`, in order. */
export function slotsBetween(timing: CronTiming, after: number, until: number): readonly number[] {
  const [from, to] = [wallTimeAt(timing.timezone, after), wallTimeAt(timing.timezone, until)]
  const disorder = disorderAt(timing, until)
  const found = new Set<number>()
  for (const { at, slots } of slotsFrom(timing, from - disorderAt(timing, after))) {
    if (at > to + disorder) break
    for (const slot of slots) if (slot > after && slot <= until) found.add(slot)
  }
  return [...found].sort((a, b) => a - b)
}

const LOOK_BACKS_MS = [HOUR_MS, DAY_MS, 31 * DAY_MS, 366 * DAY_MS, 5 * 366 * DAY_MS]

/** Returns the newest slots with `after` < slot ≤ `until`, in order, at most `most`, however long ago `after` is. */
export function newestSlots(timing: Timing, { after, until: to }: Span, most: number): readonly number[] {
  if ('at' in timing) return timing.at > after && timing.at <= to ? [timing.at] : []
  const until = Math.min(to, timing.until ?? to)
  if ('cron' in timing) {
    const from = Math.max(after, (timing.from ?? after + 1) - 1)
    return from < until ? newestWallSlots(timing, { after: from, until }, most) : []
  }
  const last = intervalsUntil(timing, until)
  const slots = Array.from({ length: Math.min(most, last + 1) }, (_, back) => intervalSlot(timing, last - back))
  return slots.filter((slot) => slot > after).reverse()
}

function newestWallSlots(timing: CronTiming, { after, until }: Span, most: number): readonly number[] {
  for (const back of LOOK_BACKS_MS) {
    const from = Math.max(after, until - back)
    const slots = slotsBetween(timing, from, until)
    if (slots.length >= most || from === after) return slots.slice(-most)
  }
  return slotsBetween(timing, after, until).slice(-most)
}

export interface Span {
  readonly after: number
  readonly until: number
}

interface WallSlot {
  readonly at: WallTime
  readonly slots: readonly number[]
}

/** Yields the matching wall times in order, each with the instants at which it is due. */
function* slotsFrom({ cron, timezone }: CronTiming, wall: WallTime): Generator<WallSlot, void, void> {
  const expression = parseCron(cron, wall)
  const everyHour = expression.fields.hour.values.length === HOURS_OF_DAY
  for (;;) {
    const at = nextOf(expression)
    if (at === undefined) return
    const instants = instantsOf(timezone, at)
    yield { at, slots: everyHour ? instants : [instants[0]] }
  }
}

/** Parses an expression in wall time. Throws the parser's error. */
export function parseCron(cron: string, from: WallTime): CronExpression {
  return CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(from) })
}

/** The parser gives up after a number of steps on a date that never comes, such as 30 February. */
function nextOf(expression: CronExpression): WallTime | undefined {
  try {
    return expression.next().getTime()
  } catch {
    return undefined
  }
}
