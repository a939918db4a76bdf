import { describe, expect, test } from 'vitest'
import {
  countOf,
  fieldsOf,
  isFields,
  isoTimeOf,
  listOf,
  Malformed,
  optionalFields,
  optionalText,
  present,
  textOf,
} from '../../../adapters/shared/fields.ts'
import { dropped, readSafely, wordOf } from '../../../adapters/shared/reading.ts'

describe('reading a value', () => {
  test.each([undefined, null])('%s is absent', (absent) => {
    expect(optionalFields(absent)).toBeUndefined()
    expect(optionalText(absent)).toBeUndefined()
    expect(listOf(absent)).toEqual([])
  })

  test.each([
    ['an object', fieldsOf, [[], 'x', 7, null, undefined]],
    ['an object that may be absent', optionalFields, [[], 'x', 7, false]],
    ['a list', listOf, [{}, 'x', 7]],
    ['a text', textOf, [{}, [], 7, null, undefined]],
    ['a text that may be absent', optionalText, [{}, [], 7]],
    ['a count', countOf, [-1, 1.5, 2 ** 53, Number.NaN, '1', null]],
    ['a time', isoTimeOf, ['yesterday', 7, null]],
  ])('%s is nothing else', (_, read, wrong) => {
    for (const value of wrong) expect(() => read(value), JSON.stringify(value)).toThrow(Malformed)
  })

  test('gives back what it is', () => {
    expect(fieldsOf({ a: 1 })).toEqual({ a: 1 })
    expect(listOf([1])).toEqual([1])
    expect(textOf('')).toBe('')
    expect(countOf(0)).toBe(0)
    expect(isoTimeOf('2026-11-21T12:00:00.000000+00:00')).toBe(Date.parse('2026-11-21T12:00:00Z'))
    expect(isFields([])).toBe(false)
    expect({ ...present('a', 1), ...present('b', undefined) }).toEqual({ a: 1 })
  })
})

describe('a reader made total', () => {
  test('gives what was read', () => {
    expect(readSafely('message', () => dropped('own_message'))).toEqual({ kind: 'dropped', why: 'own_message' })
  })

  test('counts a payload that is not what it should be, and a mistake of ours apart', () => {
    const malformed = readSafely('message', () => dropped(textOf(7)))
    expect(malformed).toEqual({ kind: 'dropped', why: 'malformed:message' })
    const mistake = readSafely('message', () => {
      throw new TypeError('no such property')
    })
    expect(mistake).toEqual({ kind: 'dropped', why: 'unreadable:message' })
  })
})

test.each([
  ['message_changed', 'message_changed'],
  ['<script>', 'other'],
  ['x'.repeat(41), 'other'],
  [7, 'other'],
])('a name %j is counted as %s', (name, word) => {
  expect(wordOf(name)).toBe(word)
})
