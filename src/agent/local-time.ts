import { LRUCache } from 'lru-cache'
import { ParleyError } from '../core/errors.ts'

/**
 * `Saturday, 2026-11-21 10:31 (Europe/Berlin, GMT+01:00)`. `ms` since the epoch. Throws `invalid` for an unknown zone.
 */
export function formatLocalTime(ms: number, timeZone: string): string {
  const minute = Math.floor(ms / MINUTE_MS)
  if (latest.minute !== minute || latest.timeZone !== timeZone) {
    latest = { minute, timeZone, text: format(ms, timeZone) }
  }
  return latest.text
}

/** Returns the time as it stands with messages: `Sat 2026-11-21 10:31`. `ms` since the epoch. */
export function formatShortTime(ms: number, timeZone: string): string {
  const minute = Math.floor(ms / MINUTE_MS)
  if (shortest.minute !== minute || shortest.timeZone !== timeZone) {
    const [weekday = '', rest = ''] = formatLocalTime(ms, timeZone).split(', ', 2)
    shortest = { minute, timeZone, text: `${weekday.slice(0, 3)} ${rest.slice(0, 'yyyy-mm-dd hh:mm'.length)}` }
  }
  return shortest.text
}

const MINUTE_MS = 60_000
/** Every turn of a minute gives the same time; making the text anew takes longer than the rest of a prompt. */
let shortest = { minute: Number.NaN, timeZone: '', text: '' }
let latest = { minute: Number.NaN, timeZone: '', text: '' }

function format(ms: number, timeZone: string): string {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(ms)
      .map((part) => [part.type, part.value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  const day = `${part('weekday')}, ${part('year')}-${part('month')}-${part('day')}`
  return `${day} ${part('hour')}:${part('minute')} (${timeZone}, ${part('timeZoneName')})`
}

/** Making a formatter costs more than using it. Bounded, because a model may name any zone in any spelling. */
const KEPT = 50
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: KEPT })

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known) return known
  const made = makeFormatter(timeZone)
  formatters.set(timeZone, made)
  return made
}

function makeFormatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'longOffset',
    })
  } catch (cause) {
    throw new ParleyError('invalid', `"${timeZone}" is not an IANA time zone such as Europe/Berlin.`, { cause })
  }
}
