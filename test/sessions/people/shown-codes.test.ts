import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { foldCode } from '../../../src/sessions/people/link-code.ts'
import { createShownCodes, findCodes } from '../../../src/sessions/people/shown-codes.ts'
import { command, direct, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const letters = '0123456789abcdefghjkmnpqrstvwxyz'
const code = (length: number) =>
  fc
    .array(fc.constantFrom(...letters), { minLength: length, maxLength: length })
    .map((signs) => ({ folded: signs.join('') }))
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...letters, ' ', '-', '\u200d') }),
)
/** What may stand between the letters of a code without hiding it. */
const gap = fc.constantFrom('', ' ', '-', '\n', '\u2028', '\u200b', '\u202e', '\u00ad', '`', '😀')
const style = fc.constantFrom(
  (sign: string) => sign,
  (sign: string) => sign.toUpperCase(),
  (sign: string) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0),
)

test('F-H12: a code is found wherever it stands, however it is written', () => {
  const hidden = fc
    .tuple(code(10), fc.array(fc.tuple(gap, style), { minLength: 10, maxLength: 10 }), text, text)
    .map(([one, styles, before, after]) => {
      const written = [...one.folded].map((sign, at) => `${styles[at]?.[1](sign)}${styles[at]?.[0]}`).join('')
      return { one, shown: `${before}${written}${after}` }
    })
  fc.assert(
    fc.property(hidden, fc.array(fc.oneof(code(10), code(16))), ({ one, shown }, others) => {
      expect(findCodes(shown, [...others, one])).toContain(one)
    }),
  )
})

test('exactly those codes are found that stand in the text', () => {
  const short = fc.array(code(2), { maxLength: 5 })
  fc.assert(
    fc.property(text, short, fc.array(code(3), { maxLength: 3 }), (said, two, three) => {
      const codes = [...two, ...three]
      const expected = codes.filter(({ folded }) => foldCode(said).includes(foldCode(folded)))
      expect(new Set(findCodes(said, codes))).toEqual(new Set(expected))
    }),
  )
})

test('a thousand codes take no longer than one', () => {
  const said = 'a1b2c3d4e5'.repeat(2_000)
  const codes = Array.from({ length: 1_000 }, (_, at) => ({ folded: String(at).padStart(10, 'z') }))
  expect(findCodes(said, codes)).toEqual([])
})

test('F-H12: marks above letters hide no code, and cost as little as any text', () => {
  const one = { folded: 'abcd123456' }
  expect(findCodes('a\u0301bcd\u0316123456', [one])).toEqual([one])
  expect(findCodes(`a${'\u0301\u0316'.repeat(100_000)}`, [one])).toEqual([])
})

const CODE = 'GrmGrii6hPsu77iP'
const { text: _text, ...facts } = message()
const quoted = (own: boolean) => ({ messageId: '7', text: `here: ${CODE}`, own })

test.each<[string, InboundEvent, 'burnt' | 'kept']>([
  ['with its own command in private', command('start', { address: direct('111'), args: CODE }), 'kept'],
  [
    'with its own command in a group',
    command('start', { address: group(), args: CODE, text: `/start ${CODE}` }),
    'burnt',
  ],
  [
    'with another command in private',
    command('whoami', { address: direct('111'), args: CODE, text: `/whoami ${CODE}` }),
    'burnt',
  ],
  [
    'as the title of a group the bot was added to',
    { ...facts, kind: 'membership', status: 'joined', chatTitle: CODE } as InboundEvent,
    'burnt',
  ],
  ['as a user name', message({ sender: user('9', { username: CODE }) }), 'burnt'],
  [
    'behind another with its own command in private',
    command('start', { address: direct('111'), args: `x ${CODE}`, text: `/start x ${CODE}` }),
    'burnt',
  ],
  ['in our own words, quoted in private', message({ address: direct('111'), quoted: quoted(true) }), 'kept'],
  ['in our own words, quoted in a group', message({ address: group(), quoted: quoted(true) }), 'burnt'],
  ['in words of others, quoted in private', message({ address: direct('111'), quoted: quoted(false) }), 'burnt'],
  [
    'as the name of somebody who is quoted',
    message({ quoted: { messageId: '7', sender: user('9', { displayName: CODE }), own: false } }),
    'burnt',
  ],
  ['as the name of who is forwarded', message({ forwarded: { from: user('9', { displayName: CODE }) } }), 'burnt'],
  ['as the name of a file', message({ attachments: [{ ref: 'file', fileName: CODE }] }), 'burnt'],
])('F-H12: a code that came %s', (_, event, outcome) => {
  let burnt = 0
  const live = [{ folded: foldCode(CODE), commands: ['start'], burn: () => void burnt++ }]
  createShownCodes({ logger: silentLogger, validCodes: () => live }).decided(dispatchOf(event))
  expect(burnt === 0 ? 'kept' : 'burnt').toBe(outcome)
})

test('F-H12, F-G03: a code is found in a payload that is nested deeper than calls can be', () => {
  const burnt: string[] = []
  const live = [{ folded: 'abcdefghjk', commands: ['link'], burn: () => void burnt.push('link') }]
  const shown = createShownCodes({ logger: silentLogger, validCodes: () => live })
  let payload: unknown = { text: 'here: ABCDE-FGHJK' }
  for (let depth = 0; depth < 200_000; depth++) payload = [payload]
  shown.overheard(payload)
  expect(burnt).toEqual(['link'])
})
