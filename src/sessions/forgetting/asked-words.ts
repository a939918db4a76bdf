import { ParleyError } from '../../core/errors.ts'
import { instantsOf } from '../../core/wall-time.ts'

/** The words of a request, apart from their meaning here. */
export interface AskedWords {
  /** Without the span and without `yes`. */
  readonly named: string
  readonly here: boolean
  readonly since?: number
  readonly confirmed: boolean
}

export const FORMS =
  'Say `/forget` in reply to a message, `/forget last`, `/forget me`, `/forget chat`, or a span such as `/forget 2h` or `/forget since 2026-11-01`; `me` and `chat` take a span too, and `me here` means this chat alone.'

export const NO_SPAN = 'Give me a span such as `2h` or `3d`, or a day such as `since 2026-11-01`.'

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/** The time of a request, ms since the epoch, and the zone in which whoever asks writes days. */
interface AskedAt {
  readonly now: number
  readonly zone: string
}

/** Splits the words of a request. Throws `invalid` for a time that has not come, or is none. */
export function readWords(args: string, at: AskedAt): AskedWords {
  const words = args.split(/\s+/).filter((word) => word !== '')
  const confirmed = words.at(-1)?.toLowerCase() === 'yes'
  let left = confirmed ? words.slice(0, -1) : words
  let since: number | undefined
  const sinceAt = left.findIndex((word) => word.toLowerCase() === 'since')
  if (sinceAt >= 0) {
    since = readSince(left.slice(sinceAt + 1).join(' '), at)
    left = left.slice(0, sinceAt)
  } else if (/^(\d{1,6}[mhdw])+$/i.test(left.at(-1) ?? '')) {
    since = readSince(left.at(-1) ?? '', at)
    left = left.slice(0, -1)
  }
  const here = left.at(-1)?.toLowerCase() === 'here' && left.length > 1
  const named = (here ? left.slice(0, -1) : left).join(' ')
  return { named, here, confirmed, ...(since === undefined ? {} : { since }) }
}

/** Reads a span back from now, or a day with or without "since". Throws `invalid` for one to come, or none. */
export function readSince(given: string, { now, zone }: AskedAt): number {
  const text = given.replace(/^since\s+/i, '')
  if (/^(\d{1,6}[mhdw])+$/i.test(text)) {
    let span = 0
    for (const [, count, unit = ''] of text.toLowerCase().matchAll(/(\d+)([mhdw])/g))
      span += Number(count) * (UNIT_MS[unit] ?? 0)
    return Math.max(0, now - span)
  }
  const [, day, clock = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?$/.exec(text) ?? []
  const wall = day === undefined ? Number.NaN : Date.parse(`${day}T${clock}:00Z`)
  if (Number.isNaN(wall)) throw new ParleyError('invalid', NO_SPAN)
  if (day !== undefined && !isDay(day)) throw new ParleyError('invalid', `There is no day ${day}.`)
  const [since] = instantsOf(zone, wall)
  if (since > now)
    throw new ParleyError('invalid', 'That time has not come yet: there is nothing to forget since then.')
  return since
}

/** The parser takes the 31st of a month with thirty days for the next day. */
function isDay(day: string): boolean {
  return new Date(Date.parse(day)).toISOString().startsWith(day)
}
