import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { layOutBlocks } from '../../../adapters/shared/lay-out-blocks.ts'
import { parseMarkdown } from '../../../adapters/shared/markdown.ts'
import { splitPassages } from '../../../adapters/shared/split-text.ts'
import { createTelegramFormat, telegramFormat } from '../../../adapters/telegram/format.ts'
import { renderHtml, renderPlain } from '../../../adapters/telegram/outbound/render.ts'
import { runs } from '../../sample.ts'
import { parseTelegramHtml } from './telegram-html.ts'

const UNLIMITED = 1_000_000

const SHARDS = [
  ...[
    '*',
    '**',
    '_',
    '__',
    '~~',
    '`',
    '``',
    '```\n',
    '```ts\n',
    '~~~\n',
    '\n',
    '\n\n',
    '\r\n',
    '- ',
    '  - ',
    '1. ',
    '7) ',
  ],
  ...[
    '> ',
    '>',
    '# ',
    '### ',
    '---\n',
    '===\n',
    '    ',
    '\t',
    '[',
    ']',
    '](http://e.x/?a=1&b="2")',
    '](javascript:alert(1))',
  ],
  ...[
    '](/relative)',
    ']()',
    '![',
    '<b>',
    '</b>',
    '<a href="x">',
    '<!--',
    '<http://auto.link>',
    '<x@y.zz>',
    '&',
    '&lt;',
    '&#0;',
  ],
  ...[
    '&nbsp;',
    '"',
    "'",
    '\\',
    '\\*',
    '\\\n',
    'a',
    'word ',
    'Stop. ',
    '漢字',
    '👨‍👩‍👧',
    'e\u0301',
    '\u202e',
    '\ud800',
    '\udc00',
  ],
  ...['\0', '\u0007', '\u2028', ' ', '  \n', '[x]: http://r.x\n', 'supercalifragilistic', '<NO_REPLY>', '$', '(', ')'],
]
const TABLES = ['|', '|-|-|\n', 'a|b\n', '|:-|-:|\n', '| c | d |\n', '\\|']

const anyMarkdown = fc
  .array(fc.constantFrom(...SHARDS), { maxLength: 80, size: 'max' })
  .map((shards) => shards.join(''))
const withTables = fc
  .array(fc.constantFrom(...SHARDS, ...TABLES, ...TABLES), { maxLength: 80, size: 'max' })
  .map((shards) => shards.join(''))
const anyLimit = fc.integer({ min: 12, max: 160 })

const squeeze = (text: string) => text.replace(/[\s\p{Cf}]+/gu, '')
const visibleOf = (markdown: string, limit: number) =>
  createTelegramFormat(limit)
    .split(markdown)
    .map((part) => parseTelegramHtml(part.text).visible)

describe('telegram format, any document', () => {
  test('F-G06: any Markdown x every part is HTML Telegram reads, not empty and within the limit', () => {
    fc.assert(
      fc.property(fc.oneof(withTables, fc.string({ unit: 'binary' })), anyLimit, (markdown, limit) => {
        for (const part of createTelegramFormat(limit).split(markdown)) {
          const { visible } = parseTelegramHtml(part.text)
          expect(visible.length).toBeLessThanOrEqual(limit)
          expect(part.plain.length).toBeLessThanOrEqual(limit)
          expect(visible.trim()).not.toBe('')
        }
      }),
      runs(1500),
    )
  })

  test('F-G06: any Markdown cut small x the parts joined show what one part shows', () => {
    fc.assert(
      fc.property(anyMarkdown, anyLimit, (markdown, limit) => {
        const whole = visibleOf(markdown, UNLIMITED).join('')
        expect(squeeze(visibleOf(markdown, limit).join(''))).toBe(squeeze(whole))
      }),
      runs(1500),
    )
  })

  test('F-G02: any Markdown cut small x no part begins or ends with half a character', () => {
    fc.assert(
      fc.property(anyMarkdown, anyLimit, (markdown, limit) => {
        for (const visible of visibleOf(markdown, limit)) expect(visible).not.toMatch(/\p{Cs}/u)
      }),
      runs(500),
    )
  })
})

/** What `split` does with any text, without its short way for bare ones. */
function splitTheLongWay(markdown: string, limit: number) {
  const passages = layOutBlocks(parseMarkdown(markdown))
  const parts = splitPassages(passages, { limit, marks: undefined })
  return parts.map((part) => ({ text: renderHtml(part), plain: renderPlain(part, limit), markup: 'html' }))
}

describe('telegram format, bare text', () => {
  /** Much that is bare, and little that only just is not. */
  const nearlyBare = fc
    .array(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.constantFrom('word ', 'x', '\n', '\t', ' ', '12', '.', ',', '?', "'", '"', 'ü', '👍'),
        },
        { weight: 1, arbitrary: fc.constantFrom(...SHARDS, '=', '+', '-', '12)', '\r') },
      ),
      { maxLength: 20, size: 'max' },
    )
    .map((pieces) => pieces.join(''))
    .filter((text) => /[^\s\p{Cf}\p{Cc}]/u.test(text))

  test('any text x comes out as it would the long way', () => {
    const visible = ({ plain }: { plain: string }) => /[^\s\p{Cf}]/u.test(plain)
    fc.assert(
      fc.property(nearlyBare, fc.integer({ min: 12, max: 200 }), (text, limit) => {
        const long = splitTheLongWay(text, limit).filter(visible)
        fc.pre(long.length > 0)
        expect(createTelegramFormat(limit).split(text)).toEqual(long)
      }),
      runs(5000),
    )
  })
})

/** Documents built from words of which we know that they must show, whatever formatting is around them. */
const word = fc.stringMatching(/^[a-z]{1,9}$/)
const inline = word.chain((text) =>
  fc.constantFrom(
    text,
    text,
    text,
    `**${text}**`,
    `*${text}*`,
    `_${text}_`,
    `~~${text}~~`,
    `\`${text}\``,
    `[${text}](https://e.org)`,
  ),
)
const line = fc.array(inline, { minLength: 1, maxLength: 12, size: 'max' }).map((words) => words.join(' '))
const block = fc.oneof(
  line,
  line.map((text) => `## ${text}`),
  fc.array(line, { minLength: 1, maxLength: 5 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
  fc
    .array(line, { minLength: 1, maxLength: 5 })
    .map((items) => items.map((item, at) => `${at + 1}. ${item}\n   - ${item}`).join('\n')),
  fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.map((text) => `> ${text}`).join('\n')),
  fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => `\`\`\`\n${words.join('\n')}\n\`\`\``),
)
const document = fc.array(block, { minLength: 1, maxLength: 12, size: 'max' }).map((blocks) => blocks.join('\n\n'))

const words = (text: string) => text.replaceAll('(https://e.org)', '').match(/[a-z]+/g) ?? []

describe('telegram format, documents of known words', () => {
  test('F-G06: formatted words x all show, in order, none torn, none twice', () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 24, max: 400 }), (markdown, limit) => {
        expect(words(visibleOf(markdown, limit).join('\n'))).toEqual(words(markdown))
      }),
      runs(800),
    )
  })

  test('text without Markdown x comes out character by character', () => {
    const plain = fc
      .stringMatching(/^[a-zA-Z ,.!?()'\n]{1,300}$/)
      .filter((text) => text.trim() !== '' && !/^ {4}/m.test(text))
    fc.assert(
      fc.property(plain, (text) => {
        expect(telegramFormat.split(text)).toEqual([{ text, plain: text, markup: 'html' }])
      }),
    )
  })

  test('16,000 characters of paragraphs of any size x at most one part more than needed', () => {
    const sentence = 'Lorem ipsum dolor sit amet, consetetur sadipscing elitr. '
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 20, max: 4500 }), { minLength: 4, maxLength: 60, size: 'max' }),
        (sizes) => {
          const text = sizes
            .map((size) => sentence.repeat(80).slice(0, size).trim())
            .join('\n\n')
            .slice(0, 16_000)
          expect(telegramFormat.split(text).length).toBeLessThanOrEqual(Math.ceil(text.length / 4096) + 1)
        },
      ),
    )
  })
})
