import type { ScheduleWish } from '../core/chat-schedules.ts'
import { ParleyError } from '../core/errors.ts'
import type { Timing } from '../core/schedule.ts'
import { checkTiming } from './check-cron.ts'
import { checkReadable, findTime, readInterval } from './read-when.ts'
import { nextSlots } from './slots.ts'
import { localTime } from './when-words.ts'

const MINUTE_MS = 60_000
/** Something said more often would be a nuisance, and a task costs a model call each time. */
const SHORTEST_MS = 5 * MINUTE_MS
const LONGEST_MS = 5 * 366 * 86_400_000
/** Slots of an expression whose distances are looked at. */
const LOOKED_AT = 50

interface Now {
  /** Ms since the epoch. */
  readonly at: number
  /** IANA name of the zone of whoever asks. */
  readonly home: string
}

/** Returns the times that somebody wishes for. Throws `invalid` in words for them, or for the model that asks. */
export async function readWish(wish: ScheduleWish, { at: now, home }: Now): Promise<Timing> {
  checkText(wish.text)
  const timezone = wish.timezone ?? home
  const [mistake] = checkTiming({ cron: wish.cron ?? '@daily', timezone })
  if (mistake) throw new ParleyError('invalid', `${mistake.field}: ${mistake.message}.`)
  const given = [wish.at, wish.every, wish.cron].filter((one) => one !== undefined)
  if (given.length !== 1) throw new ParleyError('invalid', 'Give exactly one of at, every and cron.')
  if (wish.at !== undefined) return once(wish.at, now, timezone)
  const timing = wish.cron === undefined ? interval(wish.every ?? '', now, timezone) : { cron: wish.cron, timezone }
  checkOften(timing, now)
  return timing
}

function checkText(text: string): void {
  if (text.trim() === '') throw new ParleyError('invalid', 'There is no text: say what I shall remind of, too.')
  checkReadable(text)
}

async function once(words: string, now: number, timezone: string): Promise<Timing> {
  const found = await findTime(words, { now, timezone })
  if (found === undefined || found.rest !== '')
    throw new ParleyError('invalid', `"${words}" is no time; write one such as 2026-11-27T17:00, or tomorrow at 9.`)
  const { at } = found
  if (at <= now) throw new ParleyError('invalid', `${localTime(at, timezone)} is over; give a time to come.`)
  if (at > now + LONGEST_MS)
    throw new ParleyError('invalid', `${localTime(at, timezone)} is more than five years away.`)
  return { at, timezone }
}

function interval(words: string, now: number, timezone: string): Timing {
  const every = readInterval(words)
  if (every > LONGEST_MS) throw new ParleyError('invalid', `${words} is more than five years.`)
  return { every, from: now + every, timezone }
}

function checkOften(timing: Timing, now: number): void {
  const slots = 'cron' in timing ? nextSlots(timing, now, LOOKED_AT) : nextSlots(timing, now, 2)
  const tooOften = slots.some((slot, index) => index > 0 && slot - (slots[index - 1] ?? 0) < SHORTEST_MS)
  if (tooOften) throw new ParleyError('invalid', 'That is too often; at least five minutes have to lie between two.')
}
