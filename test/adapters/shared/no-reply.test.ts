import { describe, expect, test } from 'vitest'
import { stripNoReply } from '../../../adapters/shared/no-reply.ts'
import { telegramFormat } from '../../../adapters/telegram/format.ts'

/** The first part of an answer as Telegram would get it, before the markers are removed. */
function rendered(markdown: string) {
  const [part] = telegramFormat.split(markdown)
  if (part === undefined) throw new Error('no part')
  return part
}

describe('stripNoReply', () => {
  test.each([
    '<NO_REPLY>',
    ' <EMPTY_RESPONSE>\n',
    '`<NO_REPLY>`',
    '**<NO_REPLY>**',
    '<**NO_REPLY**>',
    '# <NO_REPLY>',
    '> <NO_<NO_REPLY>REPLY>',
    '```\n<NO_REPLY>\n```',
    '```ts\n<NO_REPLY>\n```',
    '[<NO_REPLY>](https://x.y)',
    '<NO_REPLY> <EMPTY_RESPONSE><NO_REPLY>',
    '&lt;NO_REPLY&gt;',
  ])('S28: %j x nothing is left', (markdown) => {
    expect(stripNoReply(rendered(markdown))).toBeNull()
  })

  test.each([
    ['done <NO_REPLY>', 'done'],
    ['**done** `<NO_REPLY>`', '<b>done</b>'],
    ['a **b <EMPTY_RESPONSE>**', 'a <b>b</b>'],
    ['<NO_REPLY> *NO way*', '<i>NO way</i>'],
    ['> <NO_REPLY>\n\nyes', 'yes'],
    ['a <NO_REPLY><b> c', 'a &lt;b&gt; c'],
  ])('S29: %j x the rest without empty tags', (markdown, text) => {
    expect(stripNoReply(rendered(markdown))?.text).toBe(text)
  })

  test('S29: marker beside text x the plain version loses it too', () => {
    expect(stripNoReply(rendered('**done** <NO_REPLY>'))?.plain).toBe('done')
  })

  test.each(['NO_REPLY', '<no_reply>', '<NO_REPLY', 'a < b > c', '<NO REPLY>', '**x**  '])(
    'S30: %j x comes back as it is',
    (markdown) => {
      const part = rendered(markdown)
      expect(stripNoReply(part)).toBe(part)
    },
  )

  test.each([
    ['html', '<NO_REPLY> hi', 'hi'],
    ['mrkdwn', '*&lt;NO_REPLY&gt;* <https://x.y|hi>', '<https://x.y|hi>'],
    ['markdown', 'hi **`<NO_REPLY>`**', 'hi'],
    ['markdown', '<NO\\_REPLY> <b></b>', '<b></b>'],
    ['plain', '*<NO_REPLY>* hi', '** hi'],
  ] as const)('S29: a marker in %s %j x found', (markup, text, left) => {
    expect(stripNoReply({ text, plain: '<NO_REPLY> hi', markup })?.text).toBe(left)
  })

  test('S29: marks inside the marker that look like text x formatting goes, the marker too', () => {
    const part = { text: '<_NO\\_REPLY_> *hi*', plain: '<NO_REPLY> hi', markup: 'markdown' } as const
    expect(stripNoReply(part)).toEqual({ text: 'hi', plain: 'hi', markup: 'plain' })
  })
})
