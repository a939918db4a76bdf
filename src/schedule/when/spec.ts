import { UNITS, type Unit } from './time-words.ts'

/** An hour as it was typed. */
export interface TypedHour {
  readonly h: number
  readonly m: number
  /** `at 5`: nothing says which half of the day is meant. */
  readonly bare: boolean
  /** `5pm`, `05:00`, `noon`: a part of the day does not move it, as it does `8 Uhr` in `8 Uhr abends`. */
  readonly fixed?: true
  readonly midnight?: true
}

/** A distance: `months` for months and years, `ms` for the rest; both may be given. */
export interface Distance {
  readonly ms: number
  readonly months: number
  /** It is given in days or longer units: the time of day stays, whatever the clocks do in between. */
  readonly calendar: boolean
}

/** A day as it was typed. */
export type Day =
  | { readonly kind: 'rel'; readonly days: number }
  | { readonly kind: 'weekday'; readonly weekday: number; readonly next: boolean; readonly later: Distance | undefined }
  /** `y` is 0 where no year was typed. */
  | { readonly kind: 'date'; readonly y: number; readonly m: number; readonly d: number; readonly weekday?: number }
  | { readonly kind: 'dom'; readonly d: number; readonly weekday?: number }
  | { readonly kind: 'iso'; readonly at: number; readonly zoned: boolean }

/** A moment: of a reminder for one time, of an end, of a beginning. */
export interface TypedMoment {
  day?: Day
  clocks: TypedHour[]
  /** The hour that a part of the day stands for. */
  part?: number
  /** IANA name. */
  zone?: string
}

/** All that a phrase says about times; nothing in it is decided yet. */
export interface Spec extends TypedMoment {
  delay?: Distance
  /** `20 minutes` alone: it may be how long something takes. */
  bareDelay?: true
  repeat?: { readonly n: number; readonly unit: Unit }
  /** `every 1 day`, as against `every day`: without an hour it is counted from now on. */
  counted?: true
  /** `twice a day`: so many hours have to be named. */
  each?: number
  /** Days of the week, 0 is Sunday. */
  days?: readonly number[]
  /** The weekday of a month that has this number; -1 is its last. */
  nth?: { readonly no: number; readonly weekday: number }
  /** Days of each month; -1 is its last. */
  doms?: readonly number[]
  window?: readonly [TypedHour, TypedHour]
  until?: TypedMoment
  times?: number
  lasts?: Distance
  starts?: TypedMoment
  /** `in the evening` is a time by itself, as `evening` is not. */
  partSaid?: true
  /** A question for whoever typed it: the phrase has no one meaning. */
  unclear?: string
}

/** Returns true for something that is said again and again. */
export function isRepeated({ repeat, days, nth, doms }: Spec): boolean {
  return (repeat ?? days ?? nth ?? doms) !== undefined
}

/** Returns the unit of a token. */
export function unitOf(n: number): Unit {
  return UNITS[n] || 'day'
}
