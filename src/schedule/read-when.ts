import type { ParsedComponents, ParsedResult } from 'chrono-node'
import { ParleyError } from '../core/errors.ts'
import { instantsOf, wallTimeAt } from '../core/wall-time.ts'

/** A time found in a text, and the text without it. */
export interface FoundTime {
  /** Ms since the epoch. */
  readonly at: number
  readonly rest: string
}

const HOURS: readonly string[] = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const NOON = 12
const MORNING = 9
/** `on Friday at 5` is in the afternoon, `on Friday at 7` in the morning. */
const EARLIEST_MORNING = 7
const DAY_MS = 86_400_000
const HALF_DAY_MS = DAY_MS / 2
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** When and where a time is read. */
export interface Reading {
  /** Ms since the epoch. */
  readonly now: number
  /** IANA name. */
  readonly timezone: string
  /** The day is known, so that an hour is not the next one that comes. */
  readonly dated?: true
}

/**
 * Returns the time at the beginning or the end of an English text, such as `tomorrow at 9 call mum` or `call mum in 20
 * minutes`; undefined if there is none. A bare hour is the next time that clocks with twelve hours show it; a day
 * without an hour is nine in the morning.
 */
export async function findTime(text: string, reading: Reading): Promise<FoundTime | undefined> {
  checkReadable(text)
  const { parse } = await import('chrono-node/en')
  const { now, timezone } = reading
  const offset = Math.round((wallTimeAt(timezone, now) - now) / MINUTE_MS)
  const read = (words: string): readonly ParsedResult[] =>
    parse(words, { instant: new Date(now), timezone: offset }, { forwardDate: true })
  const { edges, middle } = edgesOf(text.trim())
  const plain = withoutZones(withDigits(edges), read)
  const found = read(plain)
  const time = found.find(({ index }) => /^(?:me\b|on\b|at\b|\s)*$/i.test(plain.slice(0, index))) ?? atEnd(plain, found)
  if (time === undefined || time.end != null) return undefined
  const rest = `${plain.slice(0, time.index)} ${plain.slice(time.index + time.text.length)}`
  return {
    at: instantOf(time, reading),
    rest: withoutFillers(rest.replaceAll(APART, '').replace(MIDDLE, () => middle)),
  }
}

const LONGEST_TEXT = 2_000
/** Characters at the beginning and at the end in which a time is looked for: the library takes 5 s over 40,000. */
const EDGE = 200
/** Stands for the words between them. */
const MIDDLE = '\uE000'

/** Throws `invalid` for a text that is too long to look for a time in. */
export function checkReadable(text: string): void {
  if (text.length > LONGEST_TEXT)
    throw new ParleyError('invalid', `The text is longer than ${LONGEST_TEXT} characters; make it shorter.`)
}

/** Returns the beginning and the end of a text, and the words between them that it leaves out. */
function edgesOf(text: string): { readonly edges: string; readonly middle: string } {
  if (text.length <= 2 * EDGE) return { edges: text, middle: '' }
  const space = text.lastIndexOf(' ', EDGE)
  const begin = space < 0 ? EDGE : space
  const found = text.indexOf(' ', text.length - EDGE)
  const end = found < 0 ? text.length - EDGE : found
  return { edges: `${text.slice(0, begin)} ${MIDDLE} ${text.slice(end)}`, middle: text.slice(begin, end) }
}

/** Stands before a word that the library must not add to the time before it. */
const APART = '\u00B7'

/** `at 05:00 get up` is no time of Georgia, whose zone is GET: only capitals name a zone. */
function withoutZones(text: string, read: (words: string) => readonly ParsedResult[]): string {
  let plain = text
  for (const { index, text: words } of read(text).toReversed()) {
    const [, before = '', name = ''] = /^(.*\S)\s+([a-z]{2,4})$/is.exec(words) ?? []
    if (name === name.toUpperCase() || read(before)[0]?.text !== before) continue
    const at = index + words.length - name.length
    plain = `${plain.slice(0, at)}${APART}${plain.slice(at)}`
  }
  return plain
}

function atEnd(text: string, found: readonly ParsedResult[]): ParsedResult | undefined {
  return found.findLast(({ index, text: words }) => /^[\s.!]*$/.test(text.slice(index + words.length)))
}

/** The library reads `at 5`, not `at five`. */
function withDigits(text: string): string {
  return text.replace(/\b(at|by)\s+([a-z]+)\b(?!\s*(?:minutes?|hours?|days?|weeks?))/gi, (all, word, name: string) => {
    const hour = [...HOURS, 'eleven', 'twelve'].indexOf(name.toLowerCase())
    return hour < 0 ? all : `${word} ${hour + 1}`
  })
}

function withoutFillers(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:me\b\s*)?(?:(?:to|about|that|at|on|by)\b\s*)*/i, '')
    .replace(/\s+(?:at|on|by)$/i, '')
    .trim()
}

function instantOf({ start, text }: ParsedResult, { now, timezone, dated: known }: Reading): number {
  // An offset, or a distance such as `in 20 minutes`: an instant already, whatever the zone.
  if (start.isCertain('timezoneOffset')) return start.date().getTime()
  const [year, month, day] = [numberOf(start, 'year'), numberOf(start, 'month'), numberOf(start, 'day')]
  const dated = known === true || start.isCertain('day') || start.isCertain('weekday')
  const hour = hourOf(start, text, dated)
  const wall = Date.UTC(year, month - 1, day, hour, start.isCertain('hour') ? numberOf(start, 'minute') : 0)
  if (dated || !isBare(start, text)) return instantsOf(timezone, wall)[0]
  const wallNow = wallTimeAt(timezone, now)
  const first = wall - Math.floor((wall - wallNow) / HALF_DAY_MS) * HALF_DAY_MS
  return instantsOf(timezone, first > wallNow ? first : first + HALF_DAY_MS)[0]
}

function numberOf(components: ParsedComponents, name: 'year' | 'month' | 'day' | 'hour' | 'minute'): number {
  return components.get(name) ?? 0
}

function hourOf(start: ParsedComponents, text: string, dated: boolean): number {
  const hour = numberOf(start, 'hour')
  if (!start.isCertain('hour')) return /morning|noon|evening|night/i.test(text) ? hour : MORNING
  return dated && isBare(start, text) && hour < EARLIEST_MORNING ? hour + NOON : hour
}

/** Returns true for `at 5` and `5:30`, where neither `am` nor a leading zero says which half of the day is meant. */
function isBare(start: ParsedComponents, text: string): boolean {
  const hour = numberOf(start, 'hour')
  return start.isCertain('hour') && !start.isCertain('meridiem') && hour > 0 && hour <= NOON && !/\b0\d:|T/.test(text)
}

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }

/** Parses `30m`, `2h`, `1h30m`, `90 minutes` to ms. Throws `invalid` for any other text. */
export function readInterval(text: string): number {
  checkReadable(text)
  const bare = text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/^(?=[a-z])/, '1')
  const parts = [...bare.matchAll(/(\d{1,4})(m|h|d|w)(?:in(?:ute)?s?|ours?|ays?|eeks?)?/g)]
  const whole = parts.map(([part]) => part).join('') === bare && bare !== ''
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
  if (whole && ms > 0) return ms
  throw new ParleyError('invalid', `"${text}" is no interval; write one such as 30m, 2h or 1d.`)
}
