import { mulberry } from '../random.ts'

export const PLATFORMS = ['telegram', 'discord', 'slack'] as const
export type Platform = (typeof PLATFORMS)[number]

/** Ways in which a network fails. `half-open`: the connection stands and nothing comes by it. */
export const FAULTS = ['502', 'cut', 'silence', '429', 'half-open'] as const
export type FaultKind = (typeof FAULTS)[number]

/** One thing that happens at a time, in ms from the beginning of the soak. */
export type Step =
  | {
      readonly at: number
      readonly kind: 'say'
      readonly platform: Platform
      readonly chat: number
      readonly word: string
    }
  | { readonly at: number; readonly kind: 'kill' }
  | { readonly at: number; readonly kind: 'fault'; readonly platform: Platform; readonly fault: PlannedFault }

export interface PlannedFault {
  readonly kind: FaultKind
  /** Whether a call that meets it takes effect first. */
  readonly when: 'before' | 'after'
  readonly forMs: number
}

export interface PlanOptions {
  readonly seed: number
  readonly minutes: number
  /** Shortest and longest time between two kills, in seconds; undefined: the daemon is never killed. */
  readonly kills: readonly [number, number] | undefined
  readonly faults: boolean
}

/** Conversations on each platform. */
export const CHATS = 4
const PER_SECOND = 5
const FAULT_EVERY_MS = [4_000, 15_000] as const
const FAULT_FOR_MS = [1_000, 8_000] as const

/** Returns all that will happen, in order. The same options give the same plan. */
export function planOf({ seed, minutes, kills, faults }: PlanOptions): Step[] {
  const untilMs = minutes * 60_000
  const steps = [
    ...messages(mulberry(seed), untilMs),
    ...(kills ? killings(mulberry(seed + 1), untilMs, [kills[0] * 1000, kills[1] * 1000]) : []),
    ...(faults ? troubles(mulberry(seed + 2), untilMs) : []),
  ]
  return steps.sort((one, other) => one.at - other.at)
}

function messages(random: () => number, untilMs: number): Step[] {
  return Array.from({ length: Math.floor((untilMs / 1000) * PER_SECOND) }, (_, index) => ({
    at: ((index + random()) * 1000) / PER_SECOND,
    kind: 'say',
    platform: pick(PLATFORMS, random),
    chat: Math.floor(random() * CHATS),
    word: `w${index}`,
  }))
}

function killings(random: () => number, untilMs: number, every: readonly [number, number]): Step[] {
  return times(random, untilMs, every).map((at) => ({ at, kind: 'kill' }))
}

function troubles(random: () => number, untilMs: number): Step[] {
  return times(random, untilMs, FAULT_EVERY_MS).map((at) => ({
    at,
    kind: 'fault',
    platform: pick(PLATFORMS, random),
    fault: {
      kind: pick(FAULTS, random),
      when: pick(['before', 'after'] as const, random),
      forMs: between(FAULT_FOR_MS, random),
    },
  }))
}

function times(random: () => number, untilMs: number, every: readonly [number, number]): number[] {
  const found: number[] = []
  for (let at = between(every, random); at < untilMs; at += between(every, random)) found.push(at)
  return found
}

function between([least, most]: readonly [number, number], random: () => number): number {
  return Math.round(least + random() * (most - least))
}

function pick<T>(from: readonly [T, ...T[]], random: () => number): T {
  return from[Math.floor(random() * from.length)] ?? from[0]
}
