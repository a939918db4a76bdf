import type { Timing } from '../core/schedule.ts'
import { nextSlot } from './slots.ts'

/** Returns an instant as people of a zone read it: `Friday 27 November 2026 at 17:00 (Europe/Berlin)`. */
export function localTime(at: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'short' })
  return `${format.format(at).replace(', ', ' ')} (${timezone})`
}

/** Returns the times of a schedule in words, with the next after an instant. */
export function whenInWords(timing: Timing, now: number): string {
  const next = nextSlot(timing, now)
  const time = next === undefined ? 'over' : localTime(next, timing.timezone)
  if ('at' in timing) return time
  const often = 'cron' in timing ? `\`${timing.cron}\`` : `every ${interval(timing.every)}`
  return `${often}, next ${time}`
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
]

function interval(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, name] of UNITS) {
    const count = Math.floor(left / unit)
    left -= count * unit
    if (count > 0) parts.push(`${count} ${name}`)
  }
  return parts.join(' ')
}
