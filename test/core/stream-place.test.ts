import { expect, it } from 'vitest'
import { parsePlace, placeOf } from '../../src/core/stream-place.ts'

it.each(['cli:notes', 'telegram:2026-11-21-9f3a61c0', 'web:a-1@b'])(
  'S17: a place of %s comes back as it was',
  (session) => {
    const at = Date.UTC(2026, 10, 21)
    expect(parsePlace('after', placeOf(session, { seq: 57, at }))).toEqual({ seq: 57, at, session })
  },
)

it('S17: a number is a place in the session that is asked for', () => {
  expect(parsePlace('after', '0')).toEqual({ seq: 0 })
  expect(parsePlace('after', '57')).toEqual({ seq: 57 })
})

it.each(['', ' 5', '5 ', '-5', '5.', '0x5', '5-@a', '5-1@', '5@a', '5-1@a b', '5\n6', '9'.repeat(16)])(
  'S17: %j is no place, and the error names the value',
  (text) => {
    expect(() => parsePlace('Last-Event-ID', text)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining('Last-Event-ID') }),
    )
  },
)
