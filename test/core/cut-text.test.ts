import { expect, it } from 'vitest'
import { cutText } from '../../src/core/cut-text.ts'

it.each([
  ['tea', 5, 'tea'],
  ['tea😀', 3, 'tea'],
  ['tea😀', 4, 'tea'],
  ['tea😀s', 5, 'tea😀'],
])('of %j at most %i characters are %j, and never half of one', (text, longest, cut) => {
  expect(cutText(text, longest)).toBe(cut)
})
