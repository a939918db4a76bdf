import { describe, expect, test } from 'vitest'
import { backOffMs } from '../../src/core/backoff.ts'

const almostOne = 1 - Number.EPSILON

describe('backOffMs', () => {
  test('attempts without jitter x doubling up to the longest', () => {
    const pace = { firstMs: 1000, longestMs: 30_000 }
    const waits = [1, 2, 3, 4, 5, 6, 7, 2000].map((attempt) => backOffMs(attempt, pace))
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  test('full jitter x anywhere from zero to the whole', () => {
    const pace = { firstMs: 1000, longestMs: 30_000, jitter: 1 }
    expect([0, 0.25, 0.5, almostOne].map((draw) => backOffMs(3, pace, draw))).toEqual([0, 1000, 2000, 3999])
  })

  test('half jitter x never less than half', () => {
    const pace = { firstMs: 500, longestMs: 30_000, jitter: 0.5 }
    expect([0, 0.5, 1].map((draw) => backOffMs(1, pace, draw))).toEqual([250, 375, 500])
  })

  test('attempt 0 x treated as the first', () => {
    expect(backOffMs(0, { firstMs: 1000, longestMs: 5000 })).toBe(1000)
  })
})
