import { describe, expect, test } from 'vitest'
import { createTelegramFormat, telegramFormat } from '../../../adapters/telegram/format.ts'
import { parseTelegramHtml } from './telegram-html.ts'

function only(markdown: string, limit = 4096): string {
  const parts = createTelegramFormat(limit).split(markdown)
  expect(parts).toHaveLength(1)
  return parts[0]?.text ?? ''
}

const texts = (markdown: string, limit: number) =>
  createTelegramFormat(limit)
    .split(markdown)
    .map((part) => part.text)

describe('telegram format: markup', () => {
  test.each([
    ['nested emphasis', '**bold _both_ bold**', '<b>bold <i>both</i> bold</b>'],
    ['strikethrough and code', '~~old~~ `a < b`', '<s>old</s> <code>a &lt; b</code>'],
    [
      'a label with formatting is one link',
      '[a **b**](https://x.y/?q=1&r="2")',
      '<a href="https://x.y/?q=1&amp;r=%222%22">a <b>b</b></a>',
    ],
    ['code as a label keeps the link', '[`f()`](https://x.y)', '<a href="https://x.y">f()</a>'],
    ['an image is a link', '![A cat](https://x.y/cat.png)', '<a href="https://x.y/cat.png">A cat</a>'],
    ['an image without a label shows its address', '![](https://x.y/c.png)', 'https://x.y/c.png'],
    ['no address is no link', '[a]() ![*b*]( ) c', 'a b c'],
    [
      'a file name whose end is a domain is code, and no link of a client',
      'Edit README.md, src/run.sh and https://x.y/a-b.md?f=c.py',
      'Edit <code>README.md</code>, <code>src/run.sh</code> and https://x.y/a-b.md?f=c.py',
    ],
    ['a heading with bold in it is one bold', '### **Step 1**: Open', '<b>Step 1: Open</b>'],
    ['a heading is bold', '## Now `x`', '<b>Now </b><code>x</code>'],
    ['raw HTML is text', '<b onclick="x">hi</b> & co', '&lt;b onclick=&quot;x&quot;&gt;hi&lt;/b&gt; &amp; co'],
    ['snake_case_names stay', 'a snake_case_name and 2 * 3 * 4', 'a snake_case_name and 2 * 3 * 4'],
    [
      'a fence with a language',
      '```ts\nif (a < b) {}\n```',
      '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>',
    ],
    ['what is no language is shown', '```"><b>\nx\n```', '&quot;&gt;&lt;b&gt;\n<pre>x</pre>'],
    ['a fence still open', '```\nx', '<pre>x</pre>'],
    ['a quote with code', '> say\n>\n> ```\n> x\n> ```\n\nend', '<blockquote>say\n\n<pre>x</pre></blockquote>\n\nend'],
    ['a quote in a quote is one quote', '> a\n> > b', '<blockquote>a\nb</blockquote>'],
    ['lists', '3. a\n4. b\n   - c\n     d\n\nend', '3. a\n4. b\n   ◦ c\n     d\n\nend'],
    ['bullets', '- a\n- [ ] b', '• a\n• [ ] b'],
    ['code in a list', '- a\n\n  ```\n  x\n  ```\n- b', '• a\n\n<pre>x</pre>\n• b'],
    ['a rule', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
    ['a reference definition is not lost', '[1]: https://x.y', '[1]: https://x.y'],
    ['a lone surrogate and NUL are cleaned', 'a\ud800b\0c *d*', 'a\uFFFDbc <i>d</i>'],
  ])('%s', (_name, markdown, html) => {
    expect(only(markdown)).toBe(html)
    expect(() => parseTelegramHtml(html)).not.toThrow()
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'JaVaScRiPt:x'])(
    'a link to %s x stays text',
    (address) => expect(only(`**a** [x](${address})`)).toBe(`<b>a</b> [x](${address})`),
  )

  test.each(['./readme.txt', 'file:///etc/passwd', 'tel:+4930'])('a link to %s x address behind its label', (address) =>
    expect(only(`**a** [x](${address})`)).toBe(`<b>a</b> x (${address})`),
  )

  test('a table x aligned monospace, links spelled out, wide characters counted double', () => {
    expect(only('| Name | Price |\n|---|--:|\n| **漢字** | 5 |\n| [b](https://x.y) | 12 |')).toBe(
      [
        '<pre>Name            | Price',
        '----------------|------',
        '漢字            |     5',
        'b (https://x.y) |    12</pre>',
      ].join('\n'),
    )
  })

  test.each(['', ' \n\t\n ', '\u200b', '\0'])('nothing to see (%j) x no part', (markdown) => {
    expect(telegramFormat.split(markdown)).toEqual([])
  })

  test('nothing but marks x goes out as it came', () => {
    expect(only('```')).toBe('```')
  })
})

describe('telegram format: plain version', () => {
  test('F-C01: a part with formatting x the same words without it, addresses behind their labels', () => {
    const [part] = telegramFormat.split('**See** [the *page*](https://x.y) & <https://z.y>')
    expect(part?.plain).toBe('See the page (https://x.y) & https://z.y')
  })

  test('F-C01: addresses beyond the limit x left out', () => {
    const [part] = createTelegramFormat(20).split('[a label](https://long.example.org)')
    expect(part?.plain).toBe('a label')
  })
})

describe('telegram format: splitting', () => {
  test('identical paragraphs x all of them arrive', () => {
    const parts = telegramFormat.split('The same paragraph again.\n\n'.repeat(400))
    expect(
      parts
        .map((part) => part.text)
        .join('\n\n')
        .match(/again/g),
    ).toHaveLength(400)
    expect(parts).toHaveLength(3)
  })

  test('a fence across a border x closed and opened again with its language', () => {
    expect(texts('```py\naaaaaaaa\nbbbbbbbb\ncccccccc\n```', 20)).toEqual([
      '<pre><code class="language-py">aaaaaaaa\nbbbbbbbb</code></pre>',
      '<pre><code class="language-py">cccccccc</code></pre>',
    ])
  })

  test('bold and link across a border x closed and opened again', () => {
    expect(texts('**[one two three four](https://x.y) five**', 10)).toEqual([
      '<a href="https://x.y"><b>one two</b></a>',
      '<a href="https://x.y"><b>three four</b></a>',
      '<b>five</b>',
    ])
  })

  test('a quote across a border x both are quotes', () => {
    expect(texts('> one two three', 8)).toEqual(['<blockquote>one two</blockquote>', '<blockquote>three</blockquote>'])
  })

  test('a long list x numbering goes on', () => {
    expect(texts('1. aaaa\n2. bbbb\n3. cccc', 16)).toEqual(['1. aaaa\n2. bbbb', '3. cccc'])
  })

  test('a long table x cut between rows, the header repeated', () => {
    const rows = ['aaa', 'bbb', 'ccc'].map((name) => `| ${name} | 1 |`).join('\n')
    expect(texts(`| n | v |\n|---|---|\n${rows}`, 32)).toEqual([
      '<pre>n   | v\n----|--\naaa | 1\nbbb | 1</pre>',
      '<pre>n   | v\n----|--\nccc | 1</pre>',
    ])
  })

  test('a row longer than a part x torn, for there is no other way', () => {
    const shown = texts(`| n | v |\n|---|---|\n| ${'x'.repeat(50)} | ${'y'.repeat(50)} |`, 40)
    expect(shown.join('').match(/x/g)).toHaveLength(50)
    expect(shown.join('').match(/y/g)).toHaveLength(50)
  })

  test('an escaped character at the border x never torn', () => {
    expect(texts('<'.repeat(10), 4)).toEqual(['&lt;'.repeat(4), '&lt;'.repeat(4), '&lt;'.repeat(2)])
  })

  test('F-G02: emoji of several characters at the border x whole', () => {
    const family = '👨‍👩‍👧‍👦'
    for (const text of texts(family.repeat(20), 30)) expect(text.replaceAll(family, '')).toBe('')
  })

  test('F-G02: more marks on one letter than a part holds x all arrive', () => {
    expect(texts(`e${'\u0301'.repeat(3000)}`, 500).join('')).toHaveLength(3001)
  })

  test('16,000 characters of paragraphs x four parts', () => {
    expect(telegramFormat.split(`${'Lorem ipsum dolor. '.repeat(21)}\n\n`.repeat(40).slice(0, 16_000))).toHaveLength(4)
  })

  test.each([
    '*',
    '[',
    '`a` ',
    '> ',
    '![',
    'a**b',
    '- ',
    '~~a',
    '<',
    '&',
    '\\',
    '[a](',
    '_a ',
    '# a\n',
    '- a\n',
    '> a\n\n',
    'a|b\n-|-\n',
  ])('50,000 characters of %j x arrive in bounded parts', (pattern) => {
    const parts = telegramFormat.split(pattern.repeat(50_000 / pattern.length))
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.length).toBeLessThan(25)
    for (const part of parts) expect(parseTelegramHtml(part.text).visible.length).toBeLessThanOrEqual(4096)
  })

  test('lists nested beyond all reason x nothing is lost', () => {
    const deep = Array.from({ length: 200 }, (_, level) => `${'  '.repeat(level)}- x${level}.`).join('\n')
    const shown = telegramFormat
      .split(`${deep}\n\nend`)
      .map((part) => part.text)
      .join('\n')
    for (let level = 0; level < 200; level++) expect(shown).toContain(`x${level}.`)
    expect(shown).toContain('end')
  })
})
