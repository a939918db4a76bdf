import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { charsetIn, readText } from '../../src/core/read-text.ts'
import type { WebAccess, WebPage } from '../../src/core/web.ts'
import { convertPage } from '../../src/web/convert-page.ts'
import { htmlToMarkdown } from '../../src/web/html-to-markdown.ts'
import { plainText, titleOf } from '../../src/web/plain-text.ts'
import { createWebAccess } from '../../src/web/web-access.ts'
import { cost } from '../fakes/cost.ts'
import { startSink, testDoor, wanted } from './net.ts'

const BASE = 'https://example.org/dir/page'
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

describe('a page as Markdown', () => {
  const of = (html: string) => htmlToMarkdown(html, BASE).markdown

  it('keeps headings, lists, tables, code and absolute links', () => {
    expect(of('<h1>Hi</h1><p>A <a href="/x(1)?y=1#z">link</a> and <a href="https://e.org/">https://e.org/</a>')).toBe(
      '# Hi\n\nA [link](https://example.org/x%281%29?y=1#z) and <https://e.org/>',
    )
    expect(of('<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>2<tr><td>3<td>4</table>')).toBe(
      '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |',
    )
    expect(of('<ul><li>one<li>two</ul><pre><code>x = 1\n  y</code></pre>')).toContain('```\nx = 1\n  y\n```')
    expect(of('<img src="a.png" alt="A cat"><img src="b.png"><img src="data:x" alt="A dog">')).toBe(
      '![A cat](https://example.org/dir/a.png)A dog',
    )
  })

  it('has the title, and not that of a drawing', () => {
    expect(htmlToMarkdown('<title>A &amp;\n b</title><svg><title>no</title></svg><p>x', BASE)).toEqual({
      title: 'A & b',
      markdown: 'x',
    })
  })

  it.each([
    '<script>no()</script>',
    '<style>no{}</style>',
    '<template>no</template>',
    '<nav><a href="/">no</a></nav>',
    '<div role="navigation">no</div>',
    '<footer><ul>\n  <li><a href="/a">no</a>\n  <li><a href="/b">no</a></ul></footer>',
    '<footer><script>const no = "many words of a script"</script><a href="/a">no</a></footer>',
    '<div role="contentinfo">no <a href="/a">and more of the no</a></div>',
    '<footer>© 2026 no. All rights reserved.</footer>',
    '<p hidden>no</p>',
    '<h2 aria-hidden="true">no</h2>',
    '<a href="/x" style="display:none">no</a>',
    '<p style="color: red; visibility : hidden">no</p>',
    '<span style="opacity:0">no</span>',
    '<span style="font-size:0px">no</span>',
    '<button>no</button>',
    '<svg><text>no</text></svg>',
    '<!-- no -->',
  ])('leaves out %s', (hidden) => expect(of(`<p>yes</p>${hidden}`)).toBe('yes'))

  it('leaves a link without its address where that is none of the web', () =>
    expect(of('<a href="javascript:alert(1)">x</a> <a href="http://[">y</a> <a>z</a>')).toBe('x y z'))
})

describe('a page that costs too much', () => {
  const converting = { ...wanted, clock: systemClock }

  it('is converted in a process otherwise', async () => {
    const patient = { ...converting, withinMs: 60_000 }
    expect(await convertPage('<title>T</title><h1>x</h1>', BASE, patient)).toEqual({ title: 'T', markdown: '# x' })
  })

  it.each([
    ['deep', `<title>T</title>words${'<div>'.repeat(200_000)}`],
    ['wide', `<title>T</title>${'<p><b>words'.repeat(300_000)}`],
  ])('is its plain text: %s', async (_name, html) => {
    const { markdown, ...rest } = await convertPage(html, BASE, { ...converting, withinMs: 1_000 })
    expect(rest).toMatchObject({ title: 'T', plain: true })
    expect(markdown).toContain('words')
    expect(markdown.length).toBeLessThanOrEqual(1_000_000)
  })

  it.each([
    ['elements', '<p>', '<p>words</p>'],
    ['entities', '&nbsp;', '&lt;'],
    ['comments', '<!---->', '<!-- no --><b>words</b>'],
  ])('of more %s than a process has room for is converted from its beginning', async (_name, mark, last) => {
    const html = `<h1>T</h1>${mark.repeat(700_000)}${last}`
    const patient = { ...converting, withinMs: 60_000 }
    expect(await convertPage(html, BASE, patient)).toEqual({ title: 'T', markdown: '# T', cut: true })
  })

  it('of nothing but marks costs a process of its own, and no more', async () => {
    const { title } = await convertPage(`<title>T</title>${'<'.repeat(4_900_000)}`, BASE, converting)
    expect(title).toBe('T')
  })

  it('of 40,000 elements with their ends is converted whole', async () => {
    const { markdown, ...rest } = await convertPage('<p>a <b>b</b></p>'.repeat(20_000), BASE, {
      ...converting,
      withinMs: 60_000,
    })
    expect([markdown.length, rest]).toEqual([20_000 * 9 - 2, {}])
  })

  it('is read in one pass', async () => {
    const html = `${'<a '.repeat(1_000_000)}${'<script'.repeat(100_000)}${'&amp'.repeat(100_000)}`
    const microseconds = await cost(() => [plainText(html), titleOf('<title '.repeat(500_000))])
    expect(microseconds).toBeLessThan(3_000_000)
  })

  it('has its words, without what is no text', () => {
    const html =
      '<HEAD><title>t</title></HEAD><p>a &lt;b&gt;&#33;&#x1F600;&nope; 1 < 2<!-- no --><script>no</script>\n\n<b>c</b>'
    expect(plainText(html)).toBe('a <b>!😀&nope; 1 < 2\nc')
    expect(titleOf('<p>no title')).toBeUndefined()
  })
})

describe('texts in other encodings', () => {
  const latin = Buffer.from('na\xefve', 'latin1')
  const read = (bytes: Buffer, type: string) => readText(bytes, [charsetIn(type), charsetIn(bytes)]).text
  it.each([
    ['the header', latin, 'text/plain; charset="ISO-8859-1"'],
    ['the meta element', Buffer.concat([Buffer.from('<meta charset=latin1>'), latin]), 'text/html'],
    [
      'the meta element where the header names none there is',
      Buffer.concat([Buffer.from('<meta http-equiv=content-type content="text/html; charset=windows-1252">'), latin]),
      'text/html; charset=klingon',
    ],
    ['a mark at the beginning', Buffer.from('\ufeffnaïve', 'utf16le'), 'text/plain; charset=utf-8'],
    ['none of them', Buffer.from('naïve'), ''],
    [
      'windows-1252, with what it has beyond ISO-8859-1',
      Buffer.from('\x93na\xefve\x94 5 \x80', 'latin1'),
      'charset=cp1252',
    ],
  ])('are read by %s', (_name, bytes, type) => expect(read(bytes, type)).toContain('naïve'))

  it('never throw', () => expect(read(Buffer.from([0xff, 0x41]), 'text/plain; charset=utf-8')).toBe('\ufffdA'))
})

/** A process may be long in starting on a busy machine. */
function patientWeb(): WebAccess {
  const converter: typeof convertPage = (page, base, converting) =>
    convertPage(page, base, { ...converting, withinMs: 60_000 })
  return createWebAccess({ door: testDoor(), clock: systemClock, converter })
}

describe('what is at an address', () => {
  async function fetched(type: string | undefined, body: string | Buffer, status = 200): Promise<WebPage> {
    const sink = await startSink((_request, response) =>
      response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body),
    )
    const web = patientWeb()
    return web.fetch(`http://example.org:${sink.port}/`, wanted.signal, 'ada')
  }

  it.each([
    ['text/html; charset=utf-8', '<title>T</title><h1>x</h1>', { kind: 'text', title: 'T', text: '# x' }],
    ['text/markdown', '# x <b>', { kind: 'text', text: '# x <b>' }],
    ['application/json', '{"a":1}', { kind: 'text', text: '{"a":1}' }],
    ['application/ld+json', '{"a":1}', { kind: 'text', text: '{"a":1}' }],
    [undefined, '<!doctype html><h1>x</h1>', { kind: 'text', text: '# x' }],
    [undefined, 'words', { kind: 'text', type: 'text/plain', text: 'words' }],
    ['image/png', PNG, { kind: 'image', bytes: PNG }],
    ['application/pdf', '%PDF-1.7', { kind: 'file', type: 'application/pdf', size: 8 }],
    ['text/plain', Buffer.from([65, 0, 66]), { kind: 'file', type: 'text/plain', size: 3 }],
    ['application/octet-stream', Buffer.from([0, 1]), { kind: 'file', type: 'application/octet-stream', size: 2 }],
    ['', '', { kind: 'text', text: '' }],
  ])('%s %s', async (type, body, page) => expect(await fetched(type, body)).toMatchObject(page))

  it('is converted one page at a time, and not once it is no longer wanted', async () => {
    const sink = await startSink(({ url = '' }, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${url.slice(1)}</h1>`),
    )
    const web = patientWeb()
    const turn = new AbortController()
    const fetched = ['a', 'b', 'c'].map((path) =>
      web.fetch(`http://example.org:${sink.port}/${path}`, wanted.signal, 'ada'),
    )
    expect(await Promise.all(fetched)).toMatchObject([{ text: '# a' }, { text: '# b' }, { text: '# c' }])
    turn.abort()
    const left = convertPage('<h1>x', BASE, { clock: systemClock, signal: turn.signal })
    await expect(left).rejects.toMatchObject({ code: 'aborted' })
  })

  it('is a sentence where the server answers otherwise', async () => {
    await expect(fetched('text/html', 'x', 404)).rejects.toThrow(/^example.org:\d+ answered 404 \(Not Found\)/)
    await expect(fetched('text/html', 'x', 599)).rejects.toThrow(/answered 599 for/)
  })
})
