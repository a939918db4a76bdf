import { describe, expect, it } from 'vitest'
import { cutText, withWholeCharacters } from '../../src/core/cut-text.ts'

it.each([
  ['tea', 5, 'tea'],
  ['tea😀', 3, 'tea'],
  ['tea😀', 4, 'tea'],
  ['tea😀s', 5, 'tea😀'],
])('of %j at most %i characters are %j, and never half of one', (text, longest, cut) => {
  expect(cutText(text, longest)).toBe(cut)
})

describe('withWholeCharacters', () => {
  it('JSON of ours with half a character: U+FFFD in its place; whole ones and backslashes stay', () => {
    const value = { a: 'x\ud83d', b: '\ude00', c: '😀', d: '\\ud83d', '\udfff': ['\\\ud800'] }
    expect(JSON.parse(withWholeCharacters(JSON.stringify(value)))).toEqual({
      ...{ a: 'x\ufffd', b: '\ufffd', c: '😀', d: '\\ud83d', '\ufffd': ['\\\ufffd'] },
    })
  })
})
