import type { TypedHour } from './spec.ts'
import { type Language, ZONES } from './time-words.ts'
import type { Cursor, Token } from './tokens.ts'

const HALF_DAY = 12
const HOURS = 24
const MINUTES = 60
const HOUR_UNIT = 3
const MINUTE_UNIT = 2

export interface ClockOptions {
  readonly language: Language
  /** `at` or the like stands before it, so that a bare number is an hour. */
  readonly said: boolean
  /** It is one of two hours, as in `from 9 to 17`: `9 to 17` is no hour by itself. */
  readonly inWindow?: boolean
  /** A day or a repetition is known: `20h` is an hour, and not a time of twenty. */
  readonly dated?: boolean
}

/** Reads one hour: `17:00`, `5pm`, `noon`, `half past eight`, `14 Uhr 30`, `20h30`, `las ocho y media`. */
export function readClock(cursor: Cursor, options: ClockOptions): TypedHour | undefined {
  cursor.take('the')
  if (cursor.take('noon')) return { h: HALF_DAY, m: pastHour(cursor), bare: false, fixed: true }
  if (cursor.take('midnight')) {
    const m = pastHour(cursor)
    return { h: 0, m, bare: false, ...(m === 0 ? { midnight: true as const } : {}) }
  }
  return cursor.first(
    () => (options.inWindow ? undefined : spokenClock(cursor, options)),
    () => clockOfHours(cursor, options),
    () => writtenClock(cursor, options),
  )
}

/** `midi et demi`, `midi pile`. */
function pastHour(cursor: Cursor): number {
  cursor.take('oclock')
  if (cursor.take('halfpast')) return MINUTES / 2
  return cursor.take('quarterpast') ? MINUTES / 4 : 0
}

/** `half past eight`, `quarter to nine`, `ten past nine`, `halb neun`. */
function spokenClock(cursor: Cursor, options: ClockOptions): TypedHour | undefined {
  if (cursor.take('halfto')) return hourWith(cursor, -MINUTES / 2)
  if (cursor.kind() === 'number' && cursor.kind(1) === 'quarter') cursor.at++
  const part = cursor.take('half', 'quarter')
  if (part === undefined) return minutesBeside(cursor, options)
  const isHalfEight = part.kind === 'half' && options.said && ['digits', 'number'].includes(cursor.kind())
  if (isHalfEight) return hourWith(cursor, MINUTES / 2)
  return besideHour(cursor, part.kind === 'half' ? MINUTES / 2 : MINUTES / 4)
}

/** `ten past nine`; in French and Spanish the minutes stand behind the hour. */
function minutesBeside(cursor: Cursor, { said, language }: ClockOptions): TypedHour | undefined {
  const minutes = language === 'en' || language === 'de' ? cursor.count() : undefined
  if (minutes === undefined || minutes >= MINUTES) return undefined
  if (cursor.kind() === 'unit' && cursor.peek()?.n === MINUTE_UNIT) cursor.at++
  return said || cursor.kind() !== 'to' ? besideHour(cursor, minutes) : undefined
}

function besideHour(cursor: Cursor, minutes: number): TypedHour | undefined {
  const which = cursor.take('past', 'before', 'to')
  if (which === undefined) return undefined
  const signed = which.kind === 'past' ? minutes : -minutes
  // `5 vor halb 8` is 7:25.
  return hourWith(cursor, cursor.take('halfto') ? signed - MINUTES / 2 : signed)
}

/** The hour that minutes before or after it belong to. */
function hourWith(cursor: Cursor, minutes: number): TypedHour | undefined {
  const token = cursor.take('noon', 'midnight', 'digits', 'number')
  if (token === undefined || token.n > HOURS || !Number.isInteger(token.n)) return undefined
  const hour = token.kind === 'noon' ? HALF_DAY : token.n
  const total = (hour * MINUTES + minutes + HOURS * MINUTES) % (HOURS * MINUTES)
  const isNumber = token.kind === 'digits' || token.kind === 'number'
  return withHalf(cursor, {
    h: Math.floor(total / MINUTES),
    m: total % MINUTES,
    bare: isNumber && isBareHour(hour),
  })
}

/** `17h` is an hour, `2h` alone a time of two hours. */
export function isLate(hours: number): boolean {
  return hours > HALF_DAY && hours < HOURS
}

/** `20h30`, `20h`, `huit heures`. */
function clockOfHours(cursor: Cursor, { said, dated }: ClockOptions): TypedHour | undefined {
  const hours = cursor.take('hours')
  if (hours) {
    const isHour = said || hours.m > 0 || dated || isLate(hours.n)
    return isHour ? withMinutes(cursor, { h: hours.n % HOURS, m: hours.m, bare: false }, true) : undefined
  }
  const isHour = cursor.kind(1) === 'unit' && cursor.peek(1)?.n === HOUR_UNIT && said
  const count = isHour ? cursor.count() : undefined
  if (count === undefined || count > HOURS || !Number.isInteger(count)) return undefined
  cursor.at++
  return withMinutes(cursor, { h: count % HOURS, m: 0, bare: false }, true)
}

function writtenClock(cursor: Cursor, { said, dated, language }: ClockOptions): TypedHour | undefined {
  const token = cursor.take('clock', 'dotted', 'digits', 'number')
  if (token === undefined) return undefined
  const isKnown = token.kind === 'clock' || said || (token.kind === 'dotted' && dated === true)
  if (!isKnown && !isNamed(cursor)) return undefined
  const typed = hourOf(token)
  if (typed === undefined) return undefined
  const isNumber = token.kind === 'digits' || token.kind === 'number'
  if (isNumber && ['unit', 'month', 'ordinal', 'times'].includes(cursor.kind())) return undefined
  const spoken = token.kind === 'number' ? spokenMinutes(cursor) : 0
  const clock = { ...typed, m: typed.m + spoken }
  return withHalf(cursor, clock.bare && isExact(token, language) ? { ...clock, bare: false } : clock)
}

/** Returns the hour that a token writes, `1730` included; undefined where it is none. */
function hourOf({ kind, n, m, d }: Token): TypedHour | undefined {
  const isNumber = kind === 'digits' || kind === 'number'
  const isFour = kind === 'digits' && d === 4
  const [hour, minute] = isFour ? [Math.floor(n / 100), n % 100] : [n, m]
  if (hour > HOURS || minute >= MINUTES || !Number.isInteger(hour) || (isNumber && !isFour && d > 2)) return undefined
  const isSure = isFour || !isBareHour(hour) || (kind === 'clock' && d === 1)
  return { h: hour % HOURS, m: minute, bare: !isSure, ...(isSure ? { fixed: true as const } : {}) }
}

/** `nine thirty`: an hour in words has its minutes in words. */
function spokenMinutes(cursor: Cursor): number {
  // `nine-thirty`
  if (cursor.peek()?.word === '-' && cursor.kind(1) === 'number' && (cursor.peek(1)?.n ?? 0) >= 10) cursor.at++
  const isMinutes = cursor.kind() === 'number' && (cursor.peek()?.n ?? 0) >= 10 && cursor.kind(1) !== 'unit'
  return isMinutes ? (cursor.count() ?? 0) % MINUTES : 0
}

/** `5:00` leaves no doubt about the half of the day where clocks have 24 hours. */
function isExact({ kind }: Token, language: Language): boolean {
  return kind === 'clock' && (language === 'de' || language === 'fr')
}

/** `8 Uhr`, `8 in the evening`, `8 heute abend`: the word behind the number says that it is an hour. */
function isNamed(cursor: Cursor): boolean {
  return (
    ['oclock', 'am', 'pm', 'part'].includes(cursor.kind()) || (cursor.kind() === 'rel' && cursor.kind(1) === 'part')
  )
}

/** Reads `pm`, `Uhr`, `Uhr 30`, `y media`, `moins le quart` behind an hour. */
function withHalf(cursor: Cursor, clock: TypedHour): TypedHour {
  const half = cursor.take('am', 'pm')
  if (half) {
    const h = (clock.h % HALF_DAY) + (half.kind === 'pm' ? HALF_DAY : 0)
    return { h, m: clock.m, bare: false, fixed: true }
  }
  const oclock = cursor.take('oclock')
  // `8 Uhr` is in the morning, `8 o'clock` may be in the evening.
  const isExactHour = oclock !== undefined && /^(?:uhr|h)/i.test(oclock.word)
  return withMinutes(cursor, isExactHour ? { ...clock, bare: false } : clock, isExactHour)
}

function withMinutes(cursor: Cursor, clock: TypedHour, mayFollow: boolean): TypedHour {
  // Nobody counts 24 hours who says `huit heures et demie`.
  const spoken = { ...clock, bare: !clock.fixed && isBareHour(clock.h) }
  if (cursor.take('halfpast')) return { ...spoken, m: MINUTES / 2 }
  if (cursor.take('quarterpast')) return { ...spoken, m: MINUTES / 4 }
  const less = cursor.attempt(() => {
    if (!cursor.take('before')) return undefined
    return cursor.take('quarter') ? MINUTES / 4 : cursor.count()
  })
  if (less !== undefined) return { ...spoken, h: (clock.h + HOURS - 1) % HOURS, m: MINUTES - less }
  const minutes = cursor.attempt(() => {
    const token = mayFollow && clock.m === 0 ? cursor.take('digits', 'number') : undefined
    const isMinutes = token !== undefined && (token.kind === 'digits' ? token.d === 2 : token.n >= 10)
    return isMinutes && token.n < MINUTES && !['unit', 'month'].includes(cursor.kind()) ? token.n : undefined
  })
  return minutes === undefined ? clock : { ...clock, m: minutes }
}

function isBareHour(hour: number): boolean {
  return hour > 0 && hour <= HALF_DAY
}

/** Words of a city at most, in `new york time`. */
const LONGEST_CITY = 3

/** A zone by its IANA name, and the question that it leaves open. */
export interface FoundZone {
  readonly zone?: string
  readonly unclear?: string
}

/** Reads a zone behind an hour: `UTC+2`, `CET`, `Europe/Berlin`, `new york time`. */
export function readZone(cursor: Cursor): FoundZone | undefined {
  const city = cursor.attempt(() => zoneOfCity(cursor))
  if (city !== undefined) return { zone: city }
  const token = cursor.peek()
  if (token === undefined || token.kind === 'comma') return undefined
  const zone = zoneNamed(token.word)
  const isOfMany = token.word.toLowerCase() === 'ist'
  if (zone === undefined && !isOfMany) return undefined
  cursor.at++
  if (zone !== undefined) return { zone }
  return { unclear: 'IST is the time of several countries; write `Asia/Kolkata`, `Asia/Jerusalem` or `Europe/Dublin`.' }
}

function zoneOfCity(cursor: Cursor): string | undefined {
  for (let length = 1; length <= LONGEST_CITY; length++) {
    if (cursor.peek(length)?.word.toLowerCase() !== 'time') continue
    const words = cursor.tokens.slice(cursor.at, cursor.at + length).map(({ word }) => word)
    const wanted = `/${words.join('_').toLowerCase()}`
    const zone = Intl.supportedValuesOf('timeZone').find((one) => one.toLowerCase().endsWith(wanted))
    const found = zone ?? (length === 1 ? zoneNamed(words[0] ?? '') : undefined)
    if (found === undefined) continue
    cursor.at += length + 1
    return found
  }
  return undefined
}

/** Returns the zone of an IANA name, of a short name, or of `UTC+2`. */
function zoneNamed(word: string): string | undefined {
  const name = word.toLowerCase()
  if (Object.hasOwn(ZONES, name)) return ZONES[name]
  const [, sign = '', hours = ''] = /^(?:utc|gmt)([+-])(\d{1,2})(?::?00)?$/i.exec(word) ?? []
  // The names of that folder of the zone database count the other way round.
  if (hours !== '') return Number(hours) === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`
  if (!/^[a-z]+(?:\/[a-z_+-]+)+$/i.test(word)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: word }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
