import cronstrue from 'cronstrue'
import type { Timing } from '../core/schedule.ts'
import { nextSlot } from './slots.ts'

/** Returns an instant as people of a zone read it: `Friday 27 November 2026 at 17:00 (Europe/Berlin)`. */
export function localTime(at: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'short' })
  return `${format.format(at).replace(', ', ' ')} (${timezone})`
}

/**
 * Returns the times of a schedule in words, with the next after an instant: `every day at 08:00, next Friday 27
 * November 2026 at 08:00 (Europe/Berlin), until Sunday …`.
 */
export function whenInWords(timing: Timing, now: number): string {
  const next = nextSlot(timing, now)
  const time = next === undefined ? 'over' : localTime(next, timing.timezone)
  return 'at' in timing ? time : `${oftenInWords(timing)}, next ${time}${endInWords(timing)}`
}

/** Returns the times of a schedule in words, with their zone: `every day at 08:00 (Europe/Berlin)`. */
export function timesInWords(timing: Timing): string {
  if ('at' in timing) return localTime(timing.at, timing.timezone)
  return `${oftenInWords(timing)} (${timing.timezone})${endInWords(timing)}`
}

type Repeated = Exclude<Timing, { readonly at: number }>

function oftenInWords(timing: Repeated): string {
  return 'cron' in timing ? cronInWords(timing.cron) : `every ${interval(timing.every)}`
}

function endInWords({ until, timezone }: Repeated): string {
  return until === undefined ? '' : `, until ${localTime(until, timezone)}`
}

/** Returns an expression in words: `every day at 08:00`, `at 08:00, only on Monday and Thursday`. */
function cronInWords(cron: string): string {
  const words = cronstrue.toString(cron, { use24HourTimeFormat: true })
  const text = words.charAt(0).toLowerCase() + words.slice(1)
  return /^at [\d:]+(?:(?:,| and) [\d:]+)*$/.test(text) ? `every day ${text}` : text
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [7 * 86_400_000, 'week'],
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
]

/** Returns `2 weeks`, `1 hour 30 minutes`. */
function interval(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, name] of UNITS) {
    const count = Math.floor(left / unit)
    left -= count * unit
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? '' : 's'}`)
  }
  return parts.join(' ')
}
