import { expect, it } from 'vitest'
import { dayBegan, grouped } from '../../src/core/spending.ts'

it.each([
  ['Europe/Berlin', '2026-10-25T22:30:00Z', '2026-10-24T22:00:00.000Z', 'of 25 hours'],
  ['Europe/Berlin', '2026-03-29T21:30:00Z', '2026-03-28T23:00:00.000Z', 'of 23 hours'],
  ['Asia/Tokyo', '2026-11-26T14:59:59Z', '2026-11-25T15:00:00.000Z', 'that ends in a moment'],
  ['America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00.000Z', 'whose midnight the clocks leave out'],
])('C22: in %s it is a day at %s that began at %s, %s', (zone, now, began) => {
  expect(new Date(dayBegan(Date.parse(now), zone)).toISOString()).toBe(began)
})

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [12_345_678, '12,345,678'],
])('C22: %i is written %s', (count, written) => {
  expect(grouped(count)).toBe(written)
})
