import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDiscordFormat, discordFormat } from '../../../adapters/discord/format.ts'
import { runs } from '../../sample.ts'

function only(markdown: string): string {
  const parts = discordFormat.split(markdown)
  expect(parts).toHaveLength(1)
  return parts[0]?.text ?? ''
}

const texts = (markdown: string, limit: number) =>
  createDiscordFormat(limit)
    .split(markdown)
    .map(({ text }) => text)

describe('discord format: markup', () => {
  test.each([
    ['nested emphasis', '**bold _both_ bold**', '**bold **\u200b***both***\u200b** bold**'],
    ['strikethrough and code', '~~old~~ `a < b`', '~~old~~ ``a < b``'],
    ['code with a backtick', '`` a`b ``', '`` a`b ``'],
    ['a link hides no preview', '[the page](https://x.y/a_b)', '[the page](<https://x.y/a_b>)'],
    ['another scheme stands behind its label', '[Ada](mailto:ada@x.yz)', 'Ada (mailto:ada@x.yz)'],
    ['a heading is bold', '## Now', '**Now**'],
    ['a fence with a language', '```ts\nif (a < b) {}\n```', '```ts\nif (a < b) {}\n```'],
    ['a fence in a fence', '````\n```\nx\n```\n````', '```\n`\u200b`\u200b`\nx\n`\u200b`\u200b`\n```'],
    ['a quote keeps its sign on each line', '> a\n> b\n\nend', '> a\n> b\n\nend'],
    ['bullets', '- a\n- b', '• a\n• b'],
    ['numbers', '3. a\n4. b', '3. a\n4. b'],
  ])('%s', (_, markdown, shown) => {
    expect(only(markdown)).toBe(shown)
  })

  test.each([
    ['emphasis marks', '2 \\* 3 \\* 4 and \\_x\\_', '2 \\* 3 \\* 4 and \\_x\\_'],
    ['a name with underscores stays readable', 'a snake_case_name', 'a snake_case_name'],
    ['an address stays whole', 'see https://x.y/a_b_c*d now', 'see https://x.y/a_b_c*d now'],
    ['spoilers', 'a ||b|| c', 'a \\|\\|b\\|\\| c'],
    ['brackets', 'a[0](1)', 'a\\[0\\](1)'],
    ['a heading that is none', '\\# x', '\\# x'],
    ['F-I10: what looks like a mention', 'hi <@123> <#4> <@&5> <:x:6>', 'hi \\<@123> \\<#4> \\<@&5> \\<:x:6>'],
  ])('%s is text', (_, markdown, shown) => {
    expect(only(markdown)).toBe(shown)
  })

  test('a table is a code block', () => {
    expect(only('|a|b|\n|-|-|\n|1|22|')).toBe('```\na | b\n--|---\n1 | 22\n```')
  })

  test('the plain text has no marks, and the address behind its label', () => {
    const [part] = discordFormat.split('**a** [b](https://x.y) > c\n\n> d')
    expect(part).toMatchObject({ plain: 'a b (https://x.y) > c\n\n> d', markup: 'markdown' })
  })

  test('nothing visible is no part', () => {
    expect(discordFormat.split(' \n ')).toEqual([])
  })
})

describe('discord format: parts', () => {
  test('a cut code block is closed and opened again with its language', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line number ${index}`)
    const parts = texts(`\`\`\`py\n${lines.join('\n')}\n\`\`\``, 110)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part).toMatch(/^```py\n[\s\S]*\n```$/)
    expect(parts.map((part) => part.slice(6, -4)).join('\n')).toBe(lines.join('\n'))
  })

  test('a cut quote stays a quote', () => {
    const parts = texts(`> ${'word '.repeat(60)}`, 110)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part).toMatch(/^> word/)
  })

  test('the mark of a repeat fits before every part', () => {
    const parts = discordFormat.split('x*y '.repeat(3000))
    for (const { text } of parts) expect(`(repeat) ${text}`.length).toBeLessThanOrEqual(2000)
  })

  test.each([
    ['behind its label', (to: string) => `see [the file](${to}) now`, (to: string) => `see the file (${to}) now`],
    ['for itself', (to: string) => `see ${to} now`, (to: string) => `see ${to} now`],
    [
      'once behind a label of several styles',
      (to: string) => `[a **b** c](${to})`,
      (to: string) => `a **b** c (${to})`,
    ],
  ])('an address longer than a message stands %s as text, in few parts that all fit', (_, markdown, shown) => {
    const address = `https://x.yz/${'a'.repeat(4500)}`
    const parts = discordFormat.split(markdown(address))
    const unbroken = (text: string) => text.replace(/[\s\u200b]/g, '')
    expect(unbroken(parts.map(({ text }) => text).join(''))).toBe(unbroken(shown(address)))
    expect(parts.length).toBeLessThanOrEqual(5)
    for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(2000)
  })

  test('F-G06: an address with marks in it, nearly as long as a part, is no longer as sent than allowed', () => {
    const markdown = '[<https://e.x/``https://e.x/``*https://e.x/``](http://e.x/?a_b)> '
    for (const text of texts(markdown, 70)) expect(text.length).toBeLessThanOrEqual(70)
  })

  const shards = [
    '*',
    '**',
    '_',
    '~~',
    '`',
    '``',
    '```\n',
    '\n',
    '\n\n',
    '- ',
    '1. ',
    '> ',
    '# ',
    '[',
    '](http://e.x/?a_b)',
    '|',
    '||',
    '<@1>',
    '<',
    '\\',
    'a',
    'word ',
    '漢字',
    '👨‍👩‍👧',
    '\uE000',
    'https://e.x/``',
    `](http://e.x/${'long'.repeat(12)}_)`,
    '<NO_REPLY>',
    '|a|b|\n|-|-|\n',
  ]
  const anyMarkdown = fc.array(fc.constantFrom(...shards), { maxLength: 80, size: 'max' }).map((all) => all.join(''))

  test('F-G06: any Markdown x no part is longer as sent than allowed, nor empty', () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 70, max: 200 }), (markdown, limit) => {
        for (const { text, plain } of createDiscordFormat(limit).split(markdown)) {
          expect(text.length).toBeLessThanOrEqual(limit)
          expect(plain.length).toBeLessThanOrEqual(limit)
          expect(text.trim()).not.toBe('')
        }
      }),
      runs(1500),
    )
  })

  test('words x all show, in order, none torn, none twice', () => {
    const word = fc.stringMatching(/^[a-z]{1,9}$/)
    const inline = word.chain((text) => fc.constantFrom(text, `**${text}**`, `*${text}*`, `\`${text}\``, `> ${text}`))
    const document = fc.array(inline, { minLength: 1, maxLength: 60, size: 'max' })
    fc.assert(
      fc.property(document, fc.integer({ min: 70, max: 300 }), (all, limit) => {
        const markdown = all.join('\n')
        expect(
          texts(markdown, limit)
            .join('\n')
            .match(/[a-z]+/g),
        ).toEqual(markdown.match(/[a-z]+/g))
      }),
      runs(500),
    )
  })
})
