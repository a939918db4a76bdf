import { expect, it } from 'vitest'
import { ordinal } from '../../src/core/ordinal.ts'

it.each([
  [3, 'decimal', '3'],
  [3, 'decimalZero', '03'],
  [3, 'none', ''],
  [27, 'lowerLetter', 'aa'],
  [28, 'upperLetter', 'BB'],
  [781, 'lowerLetter', '781'],
  [0, 'lowerLetter', '0'],
  [1994, 'upperRoman', 'MCMXCIV'],
  [4000, 'lowerRoman', '4000'],
  [0, 'lowerRoman', '0'],
  [3, 'hebrew1', '3'],
])('%i in the format %s is %j', (count, format, shown) => {
  expect(ordinal(count, format)).toBe(shown)
})

it('letters count on behind the alphabet where browsers write them', () => {
  expect([26, 27, 28, 702, 703].map((count) => ordinal(count, 'lowerLetter', 'ab'))).toEqual([
    'z',
    'aa',
    'ab',
    'zz',
    'aaa',
  ])
})
