import { describe, expect, it } from 'vitest'
import { readable, readEntities } from '../../../adapters/telegram/inbound/entities.ts'
import { readCommand, readText, readWords } from '../../../adapters/telegram/inbound/mentions.ts'

const BOT = { id: '7000001', username: 'parley_bot' }
const ADA = { id: 111, is_bot: false, first_name: 'Ada', last_name: 'Lovelace', username: 'ada' }

/** Returns an entity over the first place of these words. */
function over(text: string, words: string, type: string, more: object = {}) {
  return { type, offset: text.indexOf(words), length: words.length, ...more }
}

/** Reads a text with entities that are each given as `[words, type, more]`. */
function read(text: string, ...marks: readonly (readonly [string, string, object?])[]): string {
  return readable(text, readEntities(marks.map(([words, type, more]) => over(text, words, type, more))))
}

const url = 'https://example.com/a'

describe('a text as people read it', () => {
  it.each<[string, string, readonly (readonly [string, string, object?])[], string]>([
    ['no marks', '*a* [b](c) `d`', [], '*a* [b](c) `d`'],
    [
      'an address behind a word',
      'see the docs, please',
      [['docs', 'text_link', { url }]],
      `see the docs (${url}), please`,
    ],
    ['an address behind an emoji', '👩‍🔧👉 now', [['👉', 'text_link', { url }]], `👩‍🔧👉 (${url}) now`],
    ['an address behind nothing visible', 'look\u200b', [['\u200b', 'text_link', { url }]], `look\u200b (${url})`],
    ['an address that the words are', 'example.com/a', [['example.com/a', 'text_link', { url }]], 'example.com/a'],
    [
      'another address than the words say',
      'https://bank.example',
      [['https://bank.example', 'text_link', { url }]],
      `https://bank.example (${url})`,
    ],
    ['a stretch that ends in a space', 'the docs now', [['docs ', 'text_link', { url }]], `the docs (${url}) now`],
    ['a bare address', `see ${url}`, [[url, 'url']], `see ${url}`],
    ['words for a person', 'ask him', [['him', 'text_mention', { user: ADA }]], 'ask him (Ada Lovelace)'],
    ['the name of a person', 'ask Ada', [['Ada', 'text_mention', { user: ADA }]], 'ask Ada'],
    ['a struck-through item', 'milk\neggs', [['milk', 'strikethrough']], '~~milk~~\neggs'],
    ['struck-through lines', 'a\n b \n\nc', [['a\n b \n\nc', 'strikethrough']], '~~a~~\n ~~b~~ \n\n~~c~~'],
    ['a spoiler', 'he dies', [['dies', 'spoiler']], 'he ||dies||'],
    ['code', 'run npm ci', [['npm ci', 'code']], 'run `npm ci`'],
    ['code with a tick', 'run a`b', [['a`b', 'code']], 'run `` a`b ``'],
    ['a block of code', 'so: x = 1 ok', [['x = 1', 'pre', { language: 'python' }]], 'so: \n```python\nx = 1\n```\n ok'],
    ['a block of code with a fence', '```', [['```', 'pre', { language: 'a b' }]], '~~~~\n```\n~~~~'],
    ['a quotation', 'she said:\none\ntwo\nand so', [['one\ntwo\n', 'blockquote']], 'she said:\n> one\n> two\nand so'],
    ['a quotation that can be expanded', 'one\ntwo', [['one\ntwo', 'expandable_blockquote']], '> one\n> two'],
    ['a custom emoji', 'hi 🐙', [['🐙', 'custom_emoji', { custom_emoji_id: '5' }]], 'hi 🐙'],
    ['a time', 'at nine', [['nine', 'date_time', { unix_time: 1_795_000_000 }]], 'at nine (2026-11-18T11:06Z)'],
    [
      'bold and italic',
      'a b',
      [
        ['a', 'bold'],
        ['b', 'italic'],
      ],
      'a b',
    ],
    [
      'nested marks',
      'a see docs b',
      [
        ['see docs', 'strikethrough'],
        ['docs', 'text_link', { url }],
      ],
      `a ~~see docs (${url})~~ b`,
    ],
    [
      'marks of one stretch',
      'docs',
      [
        ['docs', 'text_link', { url }],
        ['docs', 'spoiler'],
      ],
      `||docs (${url})||`,
    ],
    [
      'marks that overlap',
      'abcd',
      [
        ['abc', 'strikethrough'],
        ['bcd', 'spoiler'],
      ],
      '~~a||bc||~~||d||',
    ],
    [
      'a mark within a quotation',
      'a b',
      [
        ['a b', 'blockquote'],
        ['b', 'code'],
      ],
      '> a `b`',
    ],
    ['text from right to left', 'ראה כאן', [['כאן', 'text_link', { url }]], `ראה כאן (${url})`],
    [
      'a mark beyond the end',
      'ab',
      [
        ['b', 'code', { length: 9 }],
        ['a', 'spoiler', { offset: 7 }],
      ],
      'a`b`',
    ],
  ])('has %s', (_, text, marks, expected) => {
    expect(read(text, ...marks)).toBe(expected)
  })

  it('keeps its words where a mark is none', () => {
    const marks = [
      null,
      7,
      {},
      { type: 'code' },
      { type: 'code', offset: -1, length: 2 },
      { type: 'code', offset: 0.5, length: 1 },
    ]
    expect(readable('ab', readEntities(marks))).toBe('ab')
    expect(readable('ab', readEntities('code'))).toBe('ab')
  })

  it('F-G01: is read at once though a server marks it a thousand times', () => {
    const marks = Array.from({ length: 1_000 }, (_, at) => ({ type: 'code', offset: at, length: 5_000 }))
    expect(readable('a'.repeat(10_000), readEntities(marks)).length).toBeLessThan(40_000)
  })
})

describe('a command', () => {
  const command = (text: string, ...marks: readonly (readonly [string, string, object?])[]) =>
    readCommand(text, readEntities(marks.map(([words, type, more]) => over(text, words, type, more))), BOT)

  it.each<[string, readonly (readonly [string, string, object?])[], object]>([
    ['/help me', [['/help', 'bot_command']], { kind: 'command', name: 'help', args: 'me', addressed: false }],
    ['/Help@Parley_bot', [['/Help@Parley_bot', 'bot_command']], { name: 'help', args: '', addressed: true }],
    [
      '@parley_bot /help me',
      [
        ['@parley_bot', 'mention'],
        ['/help', 'bot_command'],
      ],
      { name: 'help', args: 'me', addressed: true },
    ],
    [
      '@Parley_Bot, /help@parley_bot',
      [
        ['@Parley_Bot', 'mention'],
        ['/help@parley_bot', 'bot_command'],
      ],
      { name: 'help', addressed: true },
    ],
    [
      'Parley /help',
      [
        ['Parley', 'text_mention', { user: { id: 7_000_001 } }],
        ['/help', 'bot_command'],
      ],
      { name: 'help' },
    ],
    [
      '@bob /help',
      [
        ['@bob', 'mention'],
        ['/help', 'bot_command'],
      ],
      { kind: 'none' },
    ],
    [
      '@parley_bot please /help',
      [
        ['@parley_bot', 'mention'],
        ['/help', 'bot_command'],
      ],
      { kind: 'none' },
    ],
    [
      '@parley_bot /roll@dice_bot',
      [
        ['@parley_bot', 'mention'],
        ['/roll@dice_bot', 'bot_command'],
      ],
      { kind: 'none' },
    ],
    ['/roll@dice_bot', [['/roll@dice_bot', 'bot_command']], { kind: 'other' }],
    ['please /help', [['/help', 'bot_command']], { kind: 'none' }],
  ])('in %j is read', (text, marks, expected) => {
    expect(command(text, ...marks)).toMatchObject(expected)
  })
})

describe('a rich message', () => {
  const words = (...blocks: readonly object[]) => readWords({ rich_message: { blocks } })
  const paragraph = (text: unknown) => ({ type: 'paragraph', text })

  it.each<[string, readonly object[], string]>([
    ['paragraphs', [paragraph('one'), paragraph(['two ', { type: 'bold', text: 'three' }])], 'one\ntwo three'],
    ['a heading', [{ type: 'heading', size: 2, text: 'Plan' }, paragraph('a')], '## Plan\na'],
    ['an address', [paragraph(['see ', { type: 'url', text: 'docs', url }])], `see docs (${url})`],
    ['marks', [paragraph([{ type: 'strikethrough', text: 'a' }, ' ', { type: 'code', text: 'b' }])], '~~a~~ `b`'],
    [
      'an emoji and a formula',
      [
        paragraph([
          { type: 'custom_emoji', alternative_text: '🐙' },
          { type: 'mathematical_expression', expression: 'x^2' },
        ]),
      ],
      '🐙x^2',
    ],
    ['a block of code', [{ type: 'pre', language: 'ts', text: 'let a' }, paragraph('b')], '```ts\nlet a\n```\nb'],
    [
      'a quotation',
      [{ type: 'blockquote', blocks: [paragraph('a'), paragraph('b')], credit: 'Ada' }, paragraph('c')],
      '> a\n> b\n> — Ada\nc',
    ],
    ['a quotation of a later API', [{ type: 'expandable_blockquote', text: 'a' }], '> a'],
    [
      'lists in lists',
      [
        {
          type: 'list',
          items: [
            {
              label: '•',
              blocks: [paragraph('a'), { type: 'list', items: [{ label: '1.', blocks: [paragraph('b')] }] }],
            },
            { label: '•', has_checkbox: true, is_checked: true, blocks: [paragraph('c')] },
            { label: '•', has_checkbox: true, blocks: [] },
          ],
        },
        paragraph('d'),
      ],
      '- a\n  1. b\n- [x] c\n- [ ] \nd',
    ],
    [
      'a table',
      [
        {
          type: 'table',
          cells: [
            [{ text: 'a' }, { text: 'b' }],
            [{}, { text: 'c' }],
          ],
          caption: 'T',
        },
      ],
      'a | b\n | c\nT',
    ],
    ['details', [{ type: 'details', summary: 'More', blocks: [paragraph('a')] }], 'More\na'],
    [
      'a picture',
      [{ type: 'photo', photo: [{ file_id: 'f' }], caption: { text: 'Cat', credit: 'Ada' } }],
      '(photo)\nCat — Ada',
    ],
    ['a map', [{ type: 'map', location: { latitude: 1, longitude: 2 } }], '(map: 1, 2)'],
    [
      'buttons',
      [{ type: 'buttons', buttons: [[{ text: 'Docs', url }], [{ text: 'Ok', callback_data: 'x' }]] }],
      `Docs (${url}) / Ok`,
    ],
    ['a block that came later', [{ type: 'hologram', text: 'a', blocks: [paragraph('b')] }], 'a\nb'],
    ['thoughts of a bot', [{ type: 'thinking', text: 'hm' }, paragraph('a')], 'a'],
  ])('has the words of %s', (_, blocks, expected) => {
    expect(words(...blocks)).toBe(expected)
  })

  it('names whom it mentions, and may be a command', () => {
    const blocks = [
      paragraph([{ type: 'bot_command', text: '/note' }, ' ask ', { type: 'mention', text: '@ada', username: 'ada' }]),
    ]
    const { text, entities } = readText({ rich_message: { blocks } })
    expect(readCommand(text, entities, BOT)).toMatchObject({ kind: 'command', name: 'note', args: 'ask @ada' })
    expect(entities).toMatchObject([{ type: 'bot_command' }, { type: 'mention', offset: 10, length: 4 }])
  })

  it('F-G01: is read within its bounds, whatever is in it', () => {
    let deep: object = paragraph('x')
    for (let depth = 0; depth < 500; depth++) deep = { type: 'details', summary: 'a', blocks: [deep] }
    const wide = {
      type: 'list',
      items: Array.from({ length: 20_000 }, () => ({ blocks: [paragraph('a'.repeat(100))] })),
    }
    expect(words(deep).length).toBeLessThan(1_000)
    expect(words(wide, deep).length).toBeLessThanOrEqual(45_000)
    expect(words(null as never, { type: 7, text: { text: { text: 9 } } }, paragraph(null))).toBe('')
  })
})
