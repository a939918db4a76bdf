import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSlackFormat, slackFormat } from '../../../adapters/slack/format.ts'
import { readMrkdwn } from '../../../adapters/slack/inbound/mrkdwn-text.ts'
import { pingsIn } from '../../../src/rehearsal/slack/pings.ts'

const text = (markdown: string) => slackFormat.split(markdown).map((part) => part.text)

describe('mrkdwn', () => {
  test.each([
    ['bold', 'a **word** here', 'a *word* here'],
    ['italic', 'a *word* here', 'a _word_ here'],
    ['struck', 'a ~~word~~ here', 'a ~word~ here'],
    ['code', 'run `ls -l` now', 'run `ls -l` now'],
    ['bold and italic', '***both***', '*_both_*'],
    ['a heading', '# Title', '*Title*'],
    ['a link', '[the page](https://x.org/?a=1&b=2)', '<https://x.org/?a=1&amp;b=2|the page>'],
    ['a bold link', '**[x](https://x.org)**', '*<https://x.org|x>*'],
    ['a list', '- one\n- two', '• one\n• two'],
    ['a quote', '> said\n> so', '> said\n> so'],
    ['escapes', 'a < b & c > d', 'a &lt; b &amp; c &gt; d'],
    ['a fence', '```ts\nlet a = 1 < 2\n```', '```\nlet a = 1 &lt; 2\n```'],
  ])('%s', (_, markdown, expected) => {
    expect(text(markdown)).toEqual([expected])
  })

  test('a table is code, its columns aligned', () => {
    const [table = ''] = text('| a | bb |\n|---|---|\n| 1 | 2 |')
    expect(table).toMatch(/^```\n[\s\S]*a[\s\S]*bb[\s\S]*\n```$/)
  })

  test('marks that Slack would show as they are, inside a word, are left out', () => {
    expect(text('un**believ**able')).toEqual(['unbelievable'])
  })

  test('a fence inside code does not end it', () => {
    const [code = ''] = text('~~~\n```\ninside\n```\n~~~')
    expect(code.match(/```/g)).toHaveLength(2)
  })

  test('the plain form carries the address of a link', () => {
    expect(slackFormat.split('[the page](https://x.org)')[0]?.plain).toBe('the page (https://x.org)')
  })

  test.each(['<!channel>', '<!here|x>', '<@U333>', '<!subteam^S1>', '[a](https://x.org/><!channel>)', '`<!everyone>`'])(
    'F-I10: %s in an answer calls nobody',
    (markdown) => {
      expect(text(markdown).flatMap(pingsIn)).toEqual([])
    },
  )

  test('a cut code block is opened again', () => {
    const parts = text(`\`\`\`\n${'line of code\n'.repeat(600)}\`\`\``)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part).toMatch(/^```\n[\s\S]*\n```$/)
  })
})

describe('limits', () => {
  const pieces = fc.constantFrom(
    'word ',
    '**bold** ',
    '`co<de`',
    '[l](https://x.org/?a&b) ',
    '> quote\n',
    '\n\n',
    '<&>',
    '- item\n',
    '```\ncode & more\n```\n',
    '🙂',
    `[l](https://x.org/${'&'.repeat(20)}) `,
    `https://x.org/${'a'.repeat(150)} `,
  )

  test('no part is longer than the limit, its marks and escapes included', () => {
    const format = createSlackFormat(120)
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 80 }), (parts) => {
        for (const part of format.split(parts.join(''))) expect(part.text.length).toBeLessThanOrEqual(120)
      }),
    )
  })

  test('an address longer than a message stands behind its label as text', () => {
    const address = `https://x.org/${'a'.repeat(4500)}`
    const parts = slackFormat.split(`see [the page](${address}) now`)
    expect(
      parts
        .map((part) => part.text)
        .join('')
        .replace(/\s/g, ''),
    ).toBe(`seethepage(${address})now`)
    expect(parts.length).toBeLessThanOrEqual(4)
    for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(4000)
  })

  test('nothing but white space is lost between the parts', () => {
    const format = createSlackFormat(60)
    // A tag such as <br> is a line break.
    const word = fc.stringMatching(/^[a-z][a-z<&>]{0,19}$/).filter((one) => !/<[a-z]+>/.test(one))
    const words = fc.array(word, { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(words, (list) => {
        const source = list.join(' ')
        const shown = format.split(source).map((part) => readMrkdwn(part.text, { userId: 'U0', username: 'x' }).text)
        expect(shown.join('').replace(/\s/g, '')).toBe(source.replace(/\s/g, ''))
      }),
    )
  })

  test('an answer that is only marks is still an answer', () => {
    expect(slackFormat.split('```\n```')).toHaveLength(1)
    expect(slackFormat.split('')).toEqual([])
  })
})
