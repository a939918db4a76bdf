import { expect, it } from 'vitest'
import type { SessionId } from '../../src/core/ids.ts'
import { formatCursor, parseCursor } from '../../src/core/list-cursor.ts'

it('R2: a cursor names the place that it was made of', () => {
  const place = { at: 1_800_000_000_000, id: 'telegram:2026-11-21-9f3a61c0' as SessionId }
  expect(parseCursor(formatCursor(place))).toEqual(place)
})

const encoded = (text: string) => Buffer.from(text).toString('base64url')

it.each([
  '',
  'x',
  'MQ',
  encoded('1 '),
  encoded('-1 a'),
  encoded('1e3 a'),
  encoded('1 a b'),
  `${encoded('1 a')}=`,
  ` ${encoded('1 a')}`,
])('R2: refuses the cursor "%s"', (cursor) => {
  expect(() => parseCursor(cursor)).toThrow('"cursor" is not one that a list has given as next')
})
