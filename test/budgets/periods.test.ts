import { describe, expect, it } from 'vitest'
import { periodAt } from '../../src/budgets/periods.ts'

const at = (iso: string): number => Date.parse(iso)
const HOUR = 3_600_000

describe('days and months of a zone', () => {
  it.each([
    ['Europe/Berlin', '2026-11-26T22:59:59Z', 'day', '2026-11-26', '2026-11-26T23:00:00Z'],
    ['Europe/Berlin', '2026-11-26T23:00:00Z', 'day', '2026-11-27', '2026-11-27T23:00:00Z'],
    ['America/Los_Angeles', '2026-11-27T07:59:00Z', 'day', '2026-11-26', '2026-11-27T08:00:00Z'],
    ['Pacific/Kiritimati', '2026-11-26T10:00:00Z', 'day', '2026-11-27', '2026-11-27T10:00:00Z'],
    ['UTC', '2026-12-31T23:59:59Z', 'month', '2026-12', '2027-01-01T00:00:00Z'],
    ['Europe/Berlin', '2026-12-31T23:30:00Z', 'month', '2027-01', '2027-01-31T23:00:00Z'],
    ['UTC', '2028-02-29T12:00:00Z', 'month', '2028-02', '2028-03-01T00:00:00Z'],
    ['UTC', '2028-02-29T12:00:00Z', 'day', '2028-02-29', '2028-03-01T00:00:00Z'],
    // A month over a change of the clocks ends at midnight all the same.
    ['Europe/Berlin', '2026-03-15T12:00:00Z', 'month', '2026-03', '2026-03-31T22:00:00Z'],
    // The clocks of Santiago skip midnight: the day begins at one.
    ['America/Santiago', '2026-09-05T20:00:00Z', 'day', '2026-09-05', '2026-09-06T04:00:00Z'],
    // In Havana and on the Azores midnight comes twice: the day ends with the first one.
    ['America/Havana', '2026-11-01T03:59:59Z', 'day', '2026-10-31', '2026-11-01T04:00:00Z'],
    ['America/Havana', '2026-11-01T04:00:00Z', 'day', '2026-11-01', '2026-11-02T05:00:00Z'],
    ['America/Havana', '2026-11-01T05:30:00Z', 'day', '2026-11-01', '2026-11-02T05:00:00Z'],
    ['Atlantic/Azores', '2026-10-24T23:59:59Z', 'day', '2026-10-24', '2026-10-25T00:00:00Z'],
  ] as const)('C33: %s at %s is in the %s %s', (zone, instant, period, ...[name, ends = '']) => {
    expect(periodAt(zone, at(instant), period)).toEqual({ name, endsAt: at(ends) })
  })

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-11-26', 24],
  ])('C33: the %s has %i hours in Berlin, and every one of them belongs to it', (day, hours) => {
    const noon = at(`${day}T12:00:00Z`)
    const { name, endsAt } = periodAt('Europe/Berlin', noon, 'day')
    expect(name).toBe(day)
    const inIt = Array.from({ length: 48 }, (_, hour) => endsAt - 40 * HOUR + hour * HOUR).filter(
      (instant) => periodAt('Europe/Berlin', instant, 'day').name === day,
    )
    expect(inIt).toHaveLength(hours)
    expect(inIt.every((instant) => periodAt('Europe/Berlin', instant, 'day').endsAt === endsAt)).toBe(true)
  })
})
