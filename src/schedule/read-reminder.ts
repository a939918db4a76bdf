import type { ScheduleWish } from '../core/chat-schedules.ts'
import { wallTimeAt } from '../core/wall-time.ts'
import { checkReadable, findTime } from './read-when.ts'

const INTERVAL =
  /^every\s+((?:\d{1,4}\s*(?:minutes?|mins?|m|hours?|h|days?|d|weeks?|w)\b\s*)+|(?:hour|week)\b)\s*(.*)$/is
const DAYS: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const BY_DAY = new RegExp(`^every\\s+(day|weekday|${DAYS.join('|')})s?\\b\\s*(.*)$`, 'is')
const MORNING = '0 9'

/**
 * Splits what somebody has typed, such as `tomorrow at 9 call mum` or `every monday at 8 put the bins out`, into the
 * times and the text; undefined where no time stands at its beginning or end. `now` in ms since the epoch.
 */
export async function readReminder(typed: string, now: number, timezone: string): Promise<ScheduleWish | undefined> {
  checkReadable(typed)
  const words = typed.trim().replace(/^me\s+/i, '')
  const [, every, often = ''] = INTERVAL.exec(words) ?? []
  if (every !== undefined) return { text: plain(often), task: false, every: every.trim() }
  const [, day, rest = ''] = BY_DAY.exec(words) ?? []
  if (day !== undefined) return onDays(day.toLowerCase(), rest, { now, timezone })
  const found = await findTime(words, { now, timezone })
  return found && { text: found.rest, task: false, at: new Date(found.at).toISOString() }
}

async function onDays(
  day: string,
  rest: string,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): Promise<ScheduleWish> {
  const found = await findTime(rest, { now, timezone, dated: true })
  const wall = found && new Date(wallTimeAt(timezone, found.at))
  const time = wall ? `${wall.getUTCMinutes()} ${wall.getUTCHours()}` : MORNING
  const index = DAYS.indexOf(day)
  const weekday = day === 'weekday' ? '1-5' : '*'
  return { text: plain(found?.rest ?? rest), task: false, cron: `${time} * * ${index < 0 ? weekday : index}` }
}

function plain(text: string): string {
  return text.trim().replace(/^(?:to|about|that)\s+/i, '')
}
