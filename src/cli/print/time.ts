const SECOND = 1000
const UNITS = [
  ['d', 86_400 * SECOND],
  ['h', 3600 * SECOND],
  ['min', 60 * SECOND],
  ['s', SECOND],
] as const

/** Returns how long ago something was, in its largest unit: `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatAge(at: number, now: number): string {
  const age = Math.max(0, now - at)
  const [unit, length] = UNITS.find(([, least]) => age >= least) ?? ['s', SECOND]
  return Number.isNaN(age) ? 'unknown' : `${Math.floor(age / length)} ${unit}`
}

/** Returns a time as `2026-11-21 15:03:22 CET`, in `zone`, by default that of the machine. */
export function formatTime(at: number, zone?: string): string {
  if (Number.isNaN(new Date(at).getTime())) return 'unknown'
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).formatToParts(at)
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? ''
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${of('timeZoneName')}`
}

/** Returns the day of a time, as `2026-11-21`. */
export function formatDay(at: number, zone?: string): string {
  return formatTime(at, zone).split(' ', 1)[0] ?? ''
}
