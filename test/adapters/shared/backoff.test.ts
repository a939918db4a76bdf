import { describe, expect, test } from 'vitest'
import { createBackoff } from '../../../adapters/shared/backoff.ts'

const almostOne = 1 - Number.EPSILON

describe('createBackoff', () => {
  test('attempts with the highest draw x doubling up to the cap', () => {
    const backoff = createBackoff({ baseMs: 1000, capMs: 30_000, random: () => almostOne })
    const delays = [1, 2, 3, 4, 5, 6, 7, 2000].map((attempt) => backoff.nextDelay(attempt))
    expect(delays).toEqual([999, 1999, 3999, 7999, 15_999, 29_999, 29_999, 29_999])
  })

  test('draws over the whole range x full jitter from zero', () => {
    const draws = [0, 0.25, 0.5]
    const backoff = createBackoff({ baseMs: 1000, capMs: 30_000, random: () => draws.shift() ?? 1 })
    expect([backoff.nextDelay(3), backoff.nextDelay(3), backoff.nextDelay(3)]).toEqual([0, 1000, 2000])
  })

  test.each([
    [35_000, 35_000],
    [0, 0],
    [1.2, 2],
    [-5, 0],
  ])('platform asks for %s ms x %s, whatever attempt and cap', (asked, delay) => {
    const backoff = createBackoff({ baseMs: 1000, capMs: 5000, random: () => 0.5 })
    expect(backoff.nextDelay(9, asked)).toBe(delay)
  })

  test('attempt 0 x taken as the first', () => {
    const backoff = createBackoff({ baseMs: 1000, capMs: 5000, random: () => 0.5 })
    expect(backoff.nextDelay(0)).toBe(500)
  })
})
