import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDiscordFormat } from '../../adapters/discord/format.ts'
import { createSlackFormat } from '../../adapters/slack/format.ts'
import { createTelegramFormat } from '../../adapters/telegram/format.ts'
import { partsOf } from '../../src/delivery/cut-answer.ts'
import { parseTelegramHtml } from '../adapters/telegram/telegram-html.ts'

const LIMIT = 120
const formats = [createTelegramFormat(LIMIT), createDiscordFormat(LIMIT), createSlackFormat(LIMIT)]
const CUT = /… cut after (one message|\d+ messages); the history of this conversation has the whole/
const LINES = Array.from({ length: 60 }, (_, no) => `line ${no + 1} of the answer`)

test('an answer of too many messages is cut after a line, and its last line says so', () => {
  for (const format of formats) {
    const parts = partsOf(format, { text: LINES.join('\n') }, 3)
    expect(parts).toHaveLength(3)
    const lines = parts.flatMap(({ plain }) => plain.trim().split(/\n+/))
    expect(lines.at(-1)).toMatch(CUT)
    expect(lines.at(-1)).toContain('3 messages')
    expect(lines.slice(0, -1)).toEqual(LINES.slice(0, lines.length - 1))
    expect(lines.length).toBeGreaterThan(8)
  }
})

test('an answer of exactly as many messages as may be is whole', () => {
  for (const format of formats) {
    const text = LINES.join('\n')
    const whole = format.split(text)
    expect(partsOf(format, { text }, whole.length)).toEqual(whole)
    expect(partsOf(format, { text }, whole.length - 1).at(-1)?.plain).toMatch(CUT)
  }
})

test('what stands below a text that was cut stays', () => {
  for (const format of formats) {
    const parts = partsOf(format, { text: LINES.join('\n'), end: 'It broke off.' }, 2)
    expect(parts).toHaveLength(2)
    expect(parts.at(-1)?.plain).toMatch(new RegExp(`${CUT.source}\\s+It broke off\\.$`))
  }
})

const piece = fc.constantFrom(
  ...[
    'word ',
    '**bold** ',
    '*it* ',
    '`code` ',
    '\n',
    '\n\n',
    '```\n',
    '- item\n',
    '> quote\n',
    '<b>&amp; ',
    '😀',
    '👩‍👩‍👧 ',
  ],
  ...['# head\n', '[link](https://e.x/?a=1) ', 'x'.repeat(90), '| a | b |\n| - | - |\n| 1 | 2 |\n', '~~gone~~ '],
)

test('whatever is said, it never becomes more messages than may be, and none is torn', () => {
  const answers = fc.array(piece, { minLength: 20, maxLength: 150 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 4 }), fc.boolean(), (text, most, broke) => {
      for (const format of formats) {
        const parts = partsOf(format, { text, ...(broke ? { end: 'It broke off.' } : {}) }, most)
        const whole = format.split(text)
        expect(parts.length).toBeLessThanOrEqual(most)
        for (const part of parts) {
          expect(part.plain.length).toBeLessThanOrEqual(LIMIT)
          expect(part.text).not.toMatch(/\p{Surrogate}/u)
          expect(part.plain).not.toMatch(/\p{Surrogate}/u)
          if (part.markup === 'html') parseTelegramHtml(part.text)
        }
        if (whole.length > most) expect(parts.at(-1)?.plain).toMatch(CUT)
      }
    }),
    { numRuns: 100 },
  )
})
