import { describe, expect, test } from 'vitest'
import { HtmlParseError, parseHtml } from '../../../src/rehearsal/telegram/html-entities.ts'

describe('parseHtml', () => {
  test.each([
    ['<b>a</b> &lt;b&gt; &amp; &quot;&#128512;&#x41;', 'a <b> & "😀A', [{ type: 'bold', offset: 0, length: 1 }]],
    ['😀<i>b</i>', '😀b', [{ type: 'italic', offset: 2, length: 1 }]],
    [
      '<b>a<i>b</i></b>',
      'ab',
      [
        { type: 'italic', offset: 1, length: 1 },
        { type: 'bold', offset: 0, length: 2 },
      ],
    ],
    ['<pre><code class="language-ts">x</code></pre>', 'x', [{ type: 'pre', language: 'ts', offset: 0, length: 1 }]],
    ['<code>x</code>', 'x', [{ type: 'code', offset: 0, length: 1 }]],
    [
      '<tg-spoiler>x</tg-spoiler><span class="tg-spoiler">y</span>',
      'xy',
      [
        { type: 'spoiler', offset: 0, length: 1 },
        { type: 'spoiler', offset: 1, length: 1 },
      ],
    ],
    ['<blockquote expandable>x</blockquote>', 'x', [{ type: 'expandable_blockquote', offset: 0, length: 1 }]],
    ['<blockquote>x</blockquote>', 'x', [{ type: 'blockquote', offset: 0, length: 1 }]],
    [
      '<a href="https://example.org?a=1&amp;b=2">x</a>',
      'x',
      [{ type: 'text_link', url: 'https://example.org?a=1&b=2', offset: 0, length: 1 }],
    ],
    ['<a href="javascript:x">x</a>', 'x', []],
    [
      '<a href="tg://user?id=7">x</a>',
      'x',
      [{ type: 'text_mention', user: { id: 7, is_bot: false, first_name: '' }, offset: 0, length: 1 }],
    ],
    ['<b></b>x', 'x', []],
    ['a > b', 'a > b', []],
  ])('reads %s', (source, text, entities) => {
    const parsed = parseHtml(source)
    expect(parsed.text).toBe(text)
    expect(parsed.entities.map((entity) => ({ ...entity }))).toEqual(entities)
  })

  test.each([
    ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
    ['ä<div>x</div>', 'Unsupported start tag "div" at byte offset 2'],
    ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ['x</b>', 'Unexpected end tag at byte offset 1'],
    ['a < b', 'Unsupported start tag "" at byte offset 2'],
    ['a <b', 'Unclosed start tag at byte offset 2'],
    ['<b>x</b', 'Unclosed end tag at byte offset 4'],
    ['<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ['<a href=a/b>x</a>', 'Unexpected end of name token at byte offset 8'],
    ['<b class="x">y</b>', 'Unsupported attribute "class" in the tag "b" at byte offset 0'],
    ['a & b', 'Unescaped "&" at byte offset 2'],
    ['a &nbsp; b', 'Unescaped "&" at byte offset 2'],
  ])('refuses %s', (source, message) => {
    expect(() => parseHtml(source)).toThrow(new HtmlParseError(message))
  })

  test('lets a bare ampersand and unknown attributes pass when not strict, as the real server does', () => {
    expect(parseHtml('a & <b class="x">b</b>', false)).toEqual({
      text: 'a & b',
      entities: [{ type: 'bold', offset: 4, length: 1 }],
    })
  })
})
