import { expect, it } from 'vitest'
import { parseDuration } from '../../../src/sessions/commands/parse-duration.ts'

it.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['1h 30m', 5_400_000],
  ['1w', 604_800_000],
  ['366d', 366 * 86_400_000],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each(['', '2', 'h', '2 hours', '-1h', '0m', '367d', '9999999h'])('"%s" is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})
