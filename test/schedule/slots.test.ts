import { describe, expect, it, test } from 'vitest'
import type { CronText } from '../../src/schedule/check-cron.ts'
import { newestSlots, nextSlot, nextSlots, slotsBetween } from '../../src/schedule/slots.ts'

const NEW_YORK = 'America/New_York'
const BERLIN = 'Europe/Berlin'

function upcoming(cron: string, timezone: string, after: string, count: number): string[] {
  return nextSlots({ cron, timezone }, Date.parse(after), count).map((slot) => new Date(slot).toISOString())
}

/** The first minute of the day of a clock change, and what comes of a timing from there on, in UTC. */
describe('F-E01: a wall time that the clocks skip runs as much later', () => {
  test.each([
    ['30 2 * * *', NEW_YORK, '2026-03-07T07:31Z', ['2026-03-08T07:30', '2026-03-09T06:30']],
    ['30 2 * * *', BERLIN, '2026-03-28T01:31Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    ['0 2 * * *', BERLIN, '2026-03-28T01:31Z', ['2026-03-29T01:00', '2026-03-30T00:00']],
    ['30 2,3 * * *', BERLIN, '2026-03-28T12:00Z', ['2026-03-29T01:30', '2026-03-30T00:30', '2026-03-30T01:30']],
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00Z', ['2026-10-03T15:45', '2026-10-04T15:15']],
  ])('%s in %s', (cron, timezone, after, slots) => {
    expect(upcoming(cron, timezone, after, slots.length)).toEqual(slots.map((slot) => `${slot}:00.000Z`))
  })
})

describe('F-E02: a wall time that comes twice runs the first time', () => {
  test.each([
    ['30 1 * * *', NEW_YORK, '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
    ['30 2 * * *', BERLIN, '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['*/30 2 * * *', BERLIN, '2026-10-24T12:00Z', ['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-26T01:00']],
    ['15 1-3 * * *', BERLIN, '2026-10-24T12:00Z', ['2026-10-24T23:15', '2026-10-25T00:15', '2026-10-25T02:15']],
  ])('%s in %s', (cron, timezone, after, slots) => {
    expect(upcoming(cron, timezone, after, slots.length)).toEqual(slots.map((slot) => `${slot}:00.000Z`))
  })

  it('also for who begins to count between the two, as after a restart', () => {
    expect(upcoming('30 1 * * *', NEW_YORK, '2026-11-01T06:10Z', 1)).toEqual(['2026-11-02T06:30:00.000Z'])
    expect(upcoming('30 2 * * *', NEW_YORK, '2026-03-08T07:10Z', 1)).toEqual(['2026-03-08T07:30:00.000Z'])
  })
})

describe('F-E03: every quarter of an hour goes on through both changes', () => {
  test.each([
    [NEW_YORK, '2026-03-08T00:00Z'],
    [NEW_YORK, '2026-11-01T00:00Z'],
    [BERLIN, '2026-03-28T18:00Z'],
    [BERLIN, '2026-10-24T18:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T08:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T08:00Z'],
    ['Pacific/Chatham', '2026-04-04T08:00Z'],
  ])('in %s from %s', (timezone, from) => {
    const start = Date.parse(from)
    const hours = 14
    const slots = nextSlots({ cron: '*/15 * * * *', timezone }, start, hours * 4)
    expect(slots).toEqual(Array.from({ length: hours * 4 }, (_, index) => start + (index + 1) * 900_000))
  })
})

describe('F-E14: days that not every month or year has', () => {
  test.each([
    ['0 9 29 2 *', '2026-01-01T00:00Z', ['2028-02-29T09:00', '2032-02-29T09:00']],
    ['0 9 31 * *', '2026-01-31T12:00Z', ['2026-03-31T09:00', '2026-05-31T09:00', '2026-07-31T09:00']],
    ['0 9 * * 5L', '2026-11-21T00:00Z', ['2026-11-27T09:00', '2026-12-25T09:00', '2027-01-29T09:00']],
    ['0 9 L * *', '2026-01-31T12:00Z', ['2026-02-28T09:00', '2026-03-31T09:00']],
    ['59 23 31 12 *', '2026-12-31T23:00Z', ['2026-12-31T23:59', '2027-12-31T23:59']],
    ['0 0 1 1 *', '2026-12-31T23:59Z', ['2027-01-01T00:00', '2028-01-01T00:00']],
    ['0 9 13 * 5', '2026-11-01T00:00Z', ['2026-11-06T09:00', '2026-11-13T09:00', '2026-11-20T09:00']],
    ['@daily', '2026-11-21T10:00Z', ['2026-11-22T00:00']],
  ])('%s after %s', (cron, after, slots) => {
    expect(upcoming(cron, 'UTC', after, slots.length)).toEqual(slots.map((slot) => `${slot}:00.000Z`))
  })
})

describe('slots of a span', () => {
  const hourly: CronText = { cron: '0 * * * *', timezone: 'UTC' }
  const [nine, noon] = [Date.parse('2026-11-21T09:00Z'), Date.parse('2026-11-21T12:00Z')]

  it('the end counts, the beginning does not', () => {
    expect(slotsBetween(hourly, nine, noon)).toEqual([nine + 3_600_000, nine + 7_200_000, noon])
    expect(slotsBetween(hourly, noon, noon)).toEqual([])
    expect(nextSlot(hourly, noon - 1)).toBe(noon)
    expect(nextSlot(hourly, noon)).toBe(noon + 3_600_000)
  })

  it('the newest are found however long ago the beginning is', () => {
    expect(newestSlots(hourly, { after: 0, until: noon }, 2)).toEqual([noon - 3_600_000, noon])
    expect(newestSlots({ ...hourly, cron: '0 0 29 2 *' }, { after: 0, until: noon }, 2)).toEqual([
      Date.parse('2020-02-29T00:00Z'),
      Date.parse('2024-02-29T00:00Z'),
    ])
    expect(newestSlots(hourly, { after: noon - 1, until: noon }, 100)).toEqual([noon])
  })
})

describe('an interval of whole days', () => {
  const zone = 'Europe/Berlin'
  const every = (days: number, from: string, until?: string) => ({
    ...{ every: days * 86_400_000, from: Date.parse(from), timezone: zone },
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  })
  const iso = (slots: readonly number[]) => slots.map((at) => new Date(at).toISOString().slice(0, 16))

  it('keeps the time of day when the clocks change, and a shorter one its distance', () => {
    // Clocks are set forward on 28 March 2027.
    const daily = every(2, '2027-03-26T08:00:00Z')
    expect(iso(nextSlots(daily, 0, 3))).toEqual(['2027-03-26T08:00', '2027-03-28T07:00', '2027-03-30T07:00'])
    const hourly = { ...daily, every: 12 * 3_600_000 }
    expect(iso(nextSlots(hourly, Date.parse('2027-03-27T20:00:00Z'), 2))).toEqual([
      '2027-03-28T08:00',
      '2027-03-28T20:00',
    ])
  })

  it('has the same slots wherever one begins to count', () => {
    const timing = every(3, '2026-10-01T22:30:00Z', '2027-06-01T00:00:00Z')
    const all = nextSlots(timing, 0, 200)
    expect(all.length).toBe(81)
    for (const [index, slot] of all.entries()) {
      expect(nextSlot(timing, slot - 1)).toBe(slot)
      expect(nextSlot(timing, slot)).toBe(all[index + 1])
      expect(newestSlots(timing, { after: 0, until: slot }, 2)).toEqual(all.slice(Math.max(0, index - 1), index + 1))
    }
    expect(newestSlots(timing, { after: all[3] ?? 0, until: Date.parse('2028-01-01T00:00:00Z') }, 200)).toEqual(
      all.slice(4),
    )
  })

  it('an expression is due from its beginning on and up to its end, both included', () => {
    const from = Date.parse('2026-12-07T00:00:00Z')
    const timing = { cron: '0 8 * * *', timezone: 'UTC', from, until: Date.parse('2026-12-08T08:00:00Z') }
    expect(iso(nextSlots(timing, 0, 5))).toEqual(['2026-12-07T08:00', '2026-12-08T08:00'])
    const now = Date.parse('2027-01-01T00:00:00Z')
    expect(iso(newestSlots(timing, { after: 0, until: now }, 5))).toEqual(['2026-12-07T08:00', '2026-12-08T08:00'])
    expect(newestSlots(timing, { after: 0, until: from }, 5)).toEqual([])
    expect(newestSlots(timing, { after: timing.until, until: now }, 5)).toEqual([])
  })
})
