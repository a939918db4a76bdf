import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CronText } from '../../src/schedule/check-cron.ts'
import { nextSlots, slotsBetween } from '../../src/schedule/slots.ts'
import { runs } from '../sample.ts'

const HOUR_MS = 3_600_000

/** Both changes of zones that jump by an hour and by half of one, north and south, behind and before UTC. */
const CHANGES = [
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['America/Santiago', '2026-04-05T03:00Z'],
] as const

const field = (most: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 0, max: most }).map(String),
    fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
  )

const timings = fc.tuple(fc.constantFrom(...CHANGES), field(59), field(23)).map(([[timezone, at], minute, hour]) => ({
  timing: { cron: `${minute} ${hour} * * *`, timezone } satisfies CronText,
  change: Date.parse(at),
}))

/** Minutes relative to the change at which somebody looks at the clock, as ticks, restarts and sleeps would have it. */
const looks = fc.uniqueArray(fc.integer({ min: -8 * 60, max: 8 * 60 }), { maxLength: 12 })

test('no slot twice and none lost, wherever a process stops and begins to count again around a clock change', () => {
  fc.assert(
    fc.property(timings, looks, ({ timing, change }, minutes) => {
      const [from, to] = [change - 9 * HOUR_MS, change + 9 * HOUR_MS]
      const whole = slotsBetween(timing, from, to)
      const stops = [...minutes].sort((a, b) => a - b).map((minute) => change + minute * 60_000)
      const borders = [from, ...stops, to]
      const pieces = borders.slice(1).flatMap((until, index) => slotsBetween(timing, borders[index] ?? from, until))
      expect(pieces).toEqual(whole)
      expect(new Set(whole).size).toBe(whole.length)
    }),
    runs(150),
  )
})

test('the next slots are the slots of the span they fill, one after the other', () => {
  fc.assert(
    fc.property(timings, fc.integer({ min: -4 * 60, max: 4 * 60 }), ({ timing, change }, minute) => {
      const after = change + minute * 60_000
      const next = nextSlots(timing, after, 6)
      expect(next).toEqual(slotsBetween(timing, after, next.at(-1) ?? after))
    }),
    runs(100),
  )
})

test('a daily time comes once each day: never sooner than 23 hours after the last, never later than 25', () => {
  const time = fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 23 }))
  fc.assert(
    fc.property(fc.constantFrom(...CHANGES), time, ([timezone, at], [minute, hour]) => {
      const slots = nextSlots({ cron: `${minute} ${hour} * * *`, timezone }, Date.parse(at) - 48 * HOUR_MS, 5)
      const gaps = slots.slice(1).map((slot, index) => (slot - (slots[index] ?? 0)) / HOUR_MS)
      expect(gaps).toHaveLength(4)
      for (const gap of gaps) expect(Math.abs(gap - 24)).toBeLessThanOrEqual(1)
    }),
    runs(150),
  )
})
