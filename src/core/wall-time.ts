import { ParleyError } from './errors.ts'

/**
 * Wall-clock time of a zone, written as if it were UTC: 02:30 on a day is that day's 02:30 UTC, in ms. It has neither
 * gaps nor repeats, so a calendar can be computed in it; only `instantsOf` knows of clock changes.
 */
export type WallTime = number

const DAY_MS = 86_400_000

export function wallTimeAt(timezone: string, instant: number): WallTime {
  return instant + offsetAt(timezone, instant)
}

/**
 * Returns the instants at which the clocks of a zone show a wall time, in order: one; two where the clocks are set
 * back; and for a time that is skipped, the one that is as much later as they jump (02:30 then is 03:30).
 */
export function instantsOf(timezone: string, wall: WallTime): readonly [number] | readonly [number, number] {
  // Clock changes of a zone are at least two days apart, and no zone is a whole day from UTC.
  const before = offsetAt(timezone, wall - DAY_MS)
  const after = offsetAt(timezone, wall + DAY_MS)
  const [early, late] = [wall - before, wall - after]
  if (before === after) return [early]
  const earlyShows = offsetAt(timezone, early) === before
  const lateShows = offsetAt(timezone, late) === after
  if (earlyShows && lateShows) return [early, late]
  return lateShows ? [late] : [early]
}

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/**
 * Returns a text that Parley has written with each instant in it (`2026-11-24T09:40:00.000Z`, as decisions and states
 * keep them) as people of a zone read it: `2026-11-24 10:40 (Europe/Berlin)`.
 */
export function withLocalTimes(text: string, timezone: string): string {
  return text.replace(INSTANT, (instant) => {
    const wall = new Date(wallTimeAt(timezone, Date.parse(instant))).toISOString()
    return `${wall.slice(0, 16).replace('T', ' ')} (${timezone})`
  })
}

/** Returns the ms to add to UTC. */
function offsetAt(timezone: string, instant: number): number {
  const second = Math.floor(instant / 1000) * 1000
  const parts = new Map(
    formatterOf(timezone)
      .formatToParts(second)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return wall - second
}

/**
 * Formatters are cached, since making one costs more than using it; there are few zones, all from the configuration.
 */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone)
  if (known) return known
  const made = makeFormatter(timezone)
  formatters.set(timezone, made)
  return made
}

function makeFormatter(timeZone: string): Intl.DateTimeFormat {
  const number = 'numeric'
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: number,
      month: number,
      day: number,
      hour: number,
      minute: number,
      second: number,
    })
  } catch (cause) {
    throw new ParleyError('invalid', `there is no time zone ${timeZone}; write one such as Europe/Berlin or UTC`, {
      cause,
    })
  }
}
