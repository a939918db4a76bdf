import type { ScheduleWish } from '../core/chat-schedules.ts'
import { ParleyError } from '../core/errors.ts'
import type { Timing } from '../core/schedule.ts'
import { checkTiming } from './check-cron.ts'
import { nextSlots } from './slots.ts'
import { checkReadable, readTiming } from './when/read-when.ts'
import { localTime } from './when-words.ts'

const MINUTE_MS = 60_000
/** Something said more often would be a nuisance, and a task costs a model call each time. */
const SHORTEST_MS = 5 * MINUTE_MS
const LONGEST_MS = 5 * 366 * 86_400_000
/** Slots of a schedule whose distances are looked at. */
const LOOKED_AT = 50

interface Now {
  /** Ms since the epoch. */
  readonly at: number
  /** IANA name of the zone of whoever asks. */
  readonly home: string
}

/** Returns the times that somebody wishes for. Throws `invalid` in words for them, or for the model that asks. */
export function readWish(wish: ScheduleWish, { at: now, home }: Now): Timing {
  checkText(wish.text)
  const timezone = wish.timezone ?? home
  const [mistake] = checkTiming({ cron: wish.cron ?? '@daily', timezone })
  if (mistake) throw new ParleyError('invalid', `${mistake.field}: ${mistake.message}.`)
  const given = [wish.timing, wish.at, wish.every, wish.cron].filter((one) => one !== undefined)
  if (given.length !== 1) throw new ParleyError('invalid', 'Give exactly one of at, every and cron.')
  const timing = wish.timing ?? timingOf(wish, { now, timezone })
  if ('at' in timing) checkOnce(timing.at, now, timing.timezone)
  else checkOften(timing, now)
  return timing
}

function timingOf({ at, every, cron }: ScheduleWish, reading: { now: number; timezone: string }): Timing {
  if (cron !== undefined) return { cron, timezone: reading.timezone }
  if (at !== undefined) return readTiming(at, reading)
  const words = (every ?? '').trim()
  return readTiming(/^(?:every|each)\b/i.test(words) ? words : `every ${words}`, reading)
}

function checkText(text: string): void {
  if (text.trim() === '') throw new ParleyError('invalid', 'There is no text: say what I shall remind of, too.')
  checkReadable(text)
}

function checkOnce(at: number, now: number, timezone: string): void {
  if (at <= now) throw new ParleyError('invalid', `${localTime(at, timezone)} is over; give a time to come.`)
  if (at > now + LONGEST_MS)
    throw new ParleyError('invalid', `${localTime(at, timezone)} is more than five years away.`)
}

function checkOften(timing: Exclude<Timing, { readonly at: number }>, now: number): void {
  if ('every' in timing && timing.every > LONGEST_MS)
    throw new ParleyError('invalid', 'That is more than five years between two.')
  const slots = nextSlots(timing, now, 'cron' in timing ? LOOKED_AT : 2)
  const isTooOften =
    ('every' in timing && timing.every < SHORTEST_MS) ||
    slots.some((slot, index) => index > 0 && slot - (slots[index - 1] ?? 0) < SHORTEST_MS)
  if (isTooOften) throw new ParleyError('invalid', 'That is too often; at least five minutes have to lie between two.')
}
