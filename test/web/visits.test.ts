import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { ReadArrived } from '../../src/core/media.ts'
import type { WebPage } from '../../src/core/web.ts'
import type { convertPage } from '../../src/web/convert-page.ts'
import type { Door } from '../../src/web/door.ts'
import { htmlToMarkdown } from '../../src/web/html-to-markdown.ts'
import { feedToMarkdown } from '../../src/web/read-feed.ts'
import { createWebAccess } from '../../src/web/web-access.ts'
import { SELF_SIGNED } from './certificate.ts'
import { type Sink, startRaw, startSink, testDoor, wanted } from './net.ts'

interface Sent {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
}

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const PDF = '%PDF-1.7\n%âãÏÓ\n'

/** Pages are converted here, which saves the start of a process for each; `pages.test.ts` has those. */
const converter: typeof convertPage = async (page, base, { form }) =>
  form === 'feed' ? feedToMarkdown(page, base) : htmlToMarkdown(page, base)

/** A site whose paths answer so; `read` reads one of them. */
async function site(answers: Readonly<Record<string, Sent | RequestListener>>, readFile?: ReadArrived) {
  const sink: Sink = await startSink((request, response) => {
    const answer = answers[request.url ?? ''] ?? { status: 404, body: 'no such page' }
    if (typeof answer === 'function') answer(request, response)
    else response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body)
  })
  const web = createWebAccess({ door: testDoor(), clock: systemClock, converter, ...(readFile ? { readFile } : {}) })
  const at = (path: string, host = 'example.org'): string => `http://${host}:${sink.port}${path}`
  const read = (path: string): Promise<WebPage> => web.fetch(at(path), wanted.signal, 'ada')
  const paths = (): readonly string[] => sink.asked.map((one) => one.replace(/^[^/]*/, ''))
  return { sink, at, read, paths }
}

describe('a page that leads on by itself', () => {
  it.each([
    ['an element', { headers: HTML, body: `<meta http-equiv="Refresh" content="0;URL='/to'">` }],
    ['a header', { headers: { ...HTML, refresh: '0; url=/to' }, body: 'moved' }],
    ['a header of a text', { headers: { 'content-type': 'text/plain', refresh: '1;/to' }, body: 'moved' }],
    ['a base', { headers: HTML, body: '<base href="/x/../"><meta http-equiv=refresh content="2; url=to">' }],
    [
      'what is there without scripts',
      { headers: HTML, body: '<noscript><meta http-equiv=refresh content="0;url=/to">' },
    ],
  ])('is followed within its site: by %s', async (_name, answer) => {
    const { read, paths, at } = await site({ '/': answer, '/to': { headers: HTML, body: '<h1>Here</h1>' } })
    expect(await read('/')).toMatchObject({ kind: 'text', url: at('/to'), text: '# Here' })
    expect(paths()).toEqual(['/', '/to'])
  })

  it('is not left where it does so late, or only to be read anew', async () => {
    const { read, paths } = await site({
      '/late': { headers: HTML, body: '<meta http-equiv=refresh content="900; url=/to"><p>News' },
      '/anew': { headers: HTML, body: '<meta http-equiv=refresh content="5; url=/anew"><p>Score' },
    })
    expect(await read('/late')).toMatchObject({ text: 'News' })
    expect(await read('/anew')).toMatchObject({ text: 'Score' })
    expect(paths()).toEqual(['/late', '/anew'])
  })

  it('to another site is named and not followed', async () => {
    const { read, paths } = await site({
      '/': { headers: HTML, body: '<meta http-equiv=refresh content="0; url=https://other.example.net/x">' },
    })
    expect(await read('/')).toMatchObject({ kind: 'redirect', to: 'https://other.example.net/x' })
    expect(paths()).toEqual(['/'])
  })

  it.each(['http://127.0.0.1/', 'http://169.254.169.254/latest', 'http://[::1]/', 'http://localhost/'])(
    'to %s is refused',
    async (address) => {
      const { read, paths } = await site({
        '/': { headers: HTML, body: `<meta http-equiv=refresh content="0; url=${address}">` },
      })
      await expect(read('/')).rejects.toMatchObject({ code: 'forbidden' })
      expect(paths()).toEqual(['/'])
    },
  )

  it('on and on is left in the end', async () => {
    const next: RequestListener = ({ url = '' }, response) =>
      response.writeHead(200, HTML).end(`<meta http-equiv=refresh content="0; url=${url}x">`)
    const { read, paths } = await site(new Proxy({}, { get: () => next }))
    expect(await read('/')).toMatchObject({ kind: 'text', notes: [expect.stringContaining('leads on and on')] })
    expect(paths()).toHaveLength(5)
  })
})

describe('a page that sets a cookie first', () => {
  const gate =
    (lead: Sent): RequestListener =>
    (request, response) => {
      const isIn = /(?:^|; )ok=1(?:;|$)/.test(request.headers.cookie ?? '')
      const { status = 200, headers, body } = isIn ? { headers: HTML, body: '<p>In</p>' } : lead
      response
        .writeHead(status, isIn ? HTML : { ...headers, 'set-cookie': ['ok=1; Path=/; HttpOnly', 'b="x y"'] })
        .end(body)
    }

  it.each([
    ['a redirect to itself', { status: 302, headers: { location: '/' } }],
    ['a redirect with its whole address', { status: 307, headers: { location: '?' } }],
    ['an element', { headers: HTML, body: '<meta http-equiv=refresh content="0; url=/">' }],
    ['a header', { headers: { ...HTML, refresh: '0;url=/' }, body: '' }],
  ])('is read behind %s', async (_name, lead) => {
    const { read } = await site({ '/': gate(lead), '/?': gate(lead) })
    expect(await read('/')).toMatchObject({ text: 'In' })
  })

  it('is asked without it the next time, and its cookies go nowhere else', async () => {
    const cookies: unknown[] = []
    const seen: RequestListener = (request, response) => {
      cookies.push(request.headers.cookie)
      response.writeHead(302, { location: 'https://other.example.net/', 'set-cookie': 'a=1' }).end()
    }
    const { read } = await site({ '/': seen })
    await read('/')
    await read('/')
    expect(cookies).toEqual([undefined, undefined])
  })

  it('sends back what it set, in bounds, and not what it took back', async () => {
    const cookies: string[] = []
    let visits = 0
    const many = Array.from({ length: 60 }, (_, at) => `c${at}=${'x'.repeat(at === 0 ? 4_200 : 125)}`)
    const { read } = await site({
      '/': (request, response) => {
        cookies.push(request.headers.cookie ?? '')
        const sets = [
          ['a=1', 'b=2', 'bad', 'c=\u00e9', ...many],
          ['a=; Max-Age=0', 'b=3'],
        ][visits++]
        if (sets === undefined) response.writeHead(200, HTML).end('In')
        else response.writeHead(302, { location: '/', 'set-cookie': sets }).end()
      },
    })
    await read('/')
    expect(cookies[1]).toMatch(/^a=1; b=2; c1=x+; /)
    expect(cookies[1]?.length).toBeLessThan(6_001)
    expect(cookies[2]).toMatch(/^b=3; c1=/)
  })

  it('again and again to itself is left', async () => {
    const { read, paths } = await site({ '/': { status: 302, headers: { location: '/', 'set-cookie': 'a=1' } } })
    await expect(read('/')).rejects.toThrow('redirects more than 5 times')
    expect(paths()).toHaveLength(6)
  })
})

describe('what an answer is, whatever its type says', () => {
  const RSS = '<?xml version="1.0"?><rss><channel><title>F</title><item><title>E</title></item></channel></rss>'
  const PAGE = '<!doctype html><title>T</title><h1>H</h1>'
  it.each([
    ['a page without a type', undefined, PAGE, { type: 'text/html', text: '# H' }],
    ['a page by its first element', undefined, '<!-- x --><div>Words</div>', { type: 'text/html', text: 'Words' }],
    ['a page of bytes', 'application/octet-stream', PAGE, { type: 'text/html', text: '# H' }],
    ['a page that is called a text', 'text/plain', PAGE, { type: 'text/html', text: '# H' }],
    ['a page that is called JSON', 'application/json', PAGE, { type: 'text/html', text: '# H' }],
    ['a page with two types', ['text/plain', 'text/html; charset=utf-8'], PAGE, { type: 'text/html', text: '# H' }],
    ['a page whose type is written twice', 'text/html, text/html; charset=utf-8', PAGE, { text: '# H' }],
    ['a page with half a type', 'text/html;', PAGE, { text: '# H' }],
    ['a page with a zero in it', 'text/html', `${PAGE}<p>wor\0ds</p>`, { type: 'text/html', text: '# H\n\nwords' }],
    ['a text with zeros', 'text/plain', `it began\n${'\0'.repeat(99)}it ended\n`, { text: 'it began\nit ended\n' }],
    ['JSON with a zero at its end', 'application/json', '{"a":1}\0', { text: '{"a":1}' }],
    ['a text about a PDF', 'text/plain', '%PDF is its mark.', { text: '%PDF is its mark.' }],
    ['XHTML', 'application/xhtml+xml', `<?xml version="1.0"?>${PAGE}`, { text: '# H' }],
    ['a text that is called a page', 'text/html', '# Title\n\n- a\n- b', { text: '# Title\n\n- a\n- b' }],
    ['a text about pages', 'text/plain', 'Write <html> first.', { type: 'text/plain', text: 'Write <html> first.' }],
    ['JSON', 'application/json', '{"a":1}', { text: '{"a":1}' }],
    ['Markdown', 'text/markdown', '# x <b>', { text: '# x <b>' }],
    ['a feed', 'application/rss+xml', RSS, { title: 'F', text: '- E' }],
    ['a feed that is called a page', 'text/html', RSS, { title: 'F', text: '- E' }],
    ['a feed that is called XML', 'text/xml', RSS, { title: 'F', text: '- E' }],
    ['XML that is no feed', 'application/xml', '<a><b>1</b></a>', { text: '<a><b>1</b></a>' }],
    [
      'a feed in JSON',
      'application/feed+json',
      '{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[]}',
      { title: 'F' },
    ],
  ])('is %s', async (_name, type, body, page) => {
    const { read } = await site({ '/': { headers: type === undefined ? {} : { 'content-type': type }, body } })
    expect(await read('/')).toMatchObject({ kind: 'text', ...page })
  })

  it('is the source of a page where its server insists', async () => {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
    const { read } = await site({ '/': { headers, body: PAGE } })
    expect(await read('/')).toMatchObject({ type: 'text/plain', text: PAGE })
  })

  it('is said to be guessed where nothing names the encoding, and damaged where it is another', async () => {
    const { read } = await site({
      '/guess': { headers: { 'content-type': 'text/html' }, body: Buffer.from('<p>na\xefve', 'latin1') },
      '/wrong': { headers: HTML, body: Buffer.from('<p>na\xefve', 'latin1') },
    })
    expect(await read('/guess')).toMatchObject({ text: 'naïve', notes: [expect.stringContaining('a guess')] })
    expect(await read('/wrong')).toMatchObject({ text: 'na\ufffdve', notes: [expect.stringContaining('may be wrong')] })
  })
})

describe('a document', () => {
  const reading: ReadArrived = async ({ bytes, name }) =>
    String(bytes).includes('%PDF')
      ? { text: `the text of ${name}`, cut: 'pages 3 to 9' }
      : { unread: 'of no known type' }
  it.each([['application/pdf'], ['application/octet-stream'], ['text/html'], ['text/plain; charset=utf-8'], ['']])(
    'is its text, called %j',
    async (type) => {
      const { read } = await site({ '/a%20b.pdf': { headers: { 'content-type': type }, body: PDF } }, reading)
      expect(await read('/a%20b.pdf')).toMatchObject({
        ...{ kind: 'text', text: 'the text of a b.pdf' },
        notes: ['This is a part of the file; left out: pages 3 to 9.'],
      })
    },
  )

  it.each([
    ['line ends', '\r\n'],
    ['a mark', '\ufeff'],
    ['the head of a message', 'Content-Type: application/pdf\r\n\r\n'],
  ])('is one behind %s as well', async (_what, begin) => {
    const packed = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * at * 31 + at * 7) % 251))
    const body = Buffer.concat([Buffer.from(begin + PDF), packed])
    const { read } = await site({ '/a.pdf': { headers: { 'content-type': 'text/html' }, body } }, reading)
    expect(await read('/a.pdf')).toMatchObject({ kind: 'text', text: 'the text of a.pdf' })
  })

  it('that cannot be read is named with the reason', async () => {
    const { read } = await site(
      { '/x.bin': { headers: { 'content-type': 'application/zip' }, body: 'PK\x03\x04\x00' } },
      reading,
    )
    expect(await read('/x.bin')).toMatchObject({ kind: 'file', type: 'application/zip', unread: 'of no known type' })
  })

  it('that is a picture by its content is one', async () => {
    const media = { type: 'image', media: 'm', mime: 'image/png', size: 4 } as never
    const { read } = await site({ '/x': { body: Buffer.from([0x89, 0x50, 0, 1]) } }, async () => ({ media }))
    expect(await read('/x')).toMatchObject({ kind: 'image', bytes: { length: 4 } })
  })

  it('has what is to be known about it, beside its text', async () => {
    const note = 'tracked changes are shown as accepted'
    const { read } = await site({ '/x': { body: Buffer.from([0, 1]) } }, async () => ({ text: 'words', note }))
    expect(await read('/x')).toMatchObject({ text: 'words', notes: [`About the file: ${note}.`] })
  })

  it('that is longer than is read says so', async () => {
    const { read } = await site(
      { '/x.pdf': { body: Buffer.concat([Buffer.from(PDF), Buffer.alloc(5_100_000)]) } },
      reading,
    )
    expect(await read('/x.pdf')).toMatchObject({ kind: 'file', cut: true, unread: expect.stringContaining('larger') })
  })
})

describe('an answer that is packed or torn', () => {
  const body = '<h1>Packed</h1>'.padEnd(2_000, '<p>x')
  it.each([
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['deflate', deflateRawSync(body)],
    ['br', brotliCompressSync(body)],
    ['utf-8', Buffer.from(body)],
    ['none', Buffer.from(body)],
  ])('is read: %s', async (encoding, bytes) => {
    const { read } = await site({ '/': { headers: { ...HTML, 'content-encoding': encoding }, body: bytes } })
    expect(await read('/')).toMatchObject({ text: expect.stringMatching(/^# Packed/) })
  })

  it.each([
    [
      'is shorter than it says',
      `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 900\r\n\r\n<h1>Half</h1>`,
    ],
    [
      'ends within a chunk',
      `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\nff\r\n<h1>Half</h1>`,
    ],
  ])('that %s is its beginning, and is said to be', async (_name, answer) => {
    const raw = await startRaw((socket) => socket.end(answer))
    const page = createWebAccess({ door: testDoor(), clock: systemClock, converter }).fetch(
      `http://example.org:${raw.port}/`,
      wanted.signal,
      'ada',
    )
    const notes = [expect.stringContaining('broke off before the answer was whole; this is its beginning')]
    expect(await page).toMatchObject({ text: '# Half', notes })
    expect(await page).not.toHaveProperty('cut')
  })

  it('that is cut within its packing is its beginning', async () => {
    const noise = Array.from({ length: 5_000 }, (_, at) => `<p>${(at * 7919) % 10_007}</p>`).join('')
    const half = gzipSync(`<h1>Half</h1>${noise}`).subarray(0, 8_000)
    const { read } = await site({ '/': { headers: { ...HTML, 'content-encoding': 'gzip' }, body: half } })
    const page = await read('/')
    expect(page).toMatchObject({
      text: expect.stringMatching(/^# Half/),
      notes: [expect.stringContaining('broke off')],
    })
    expect(page).not.toHaveProperty('cut')
  })

  it('of a file that is torn is not said to be too large', async () => {
    const torn = 'HTTP/1.1 200 OK\r\ncontent-type: application/zip\r\ncontent-length: 900\r\n\r\nPK\x03\x04\0\0'
    const raw = await startRaw((socket) => socket.end(torn))
    const web = createWebAccess({
      door: testDoor(),
      clock: systemClock,
      converter,
      readFile: async () => ({ text: 'x' }),
    })
    const page = await web.fetch(`http://example.org:${raw.port}/`, wanted.signal, 'ada')
    expect(page).toMatchObject({ kind: 'file', unread: 'the connection broke off before it was whole' })
  })

  it.each([
    ['gzip', 'gzip'],
    [' BR', 'BR'],
    ['deflate', 'deflate'],
  ])('that is in another encoding than its server names is refused with its name: %s', async (encoding, named) => {
    const { read } = await site({ '/': { headers: { ...HTML, 'content-encoding': encoding }, body: 'Plain words.' } })
    await expect(read('/')).rejects.toThrow(`is not in the encoding it names, ${named}.`)
  })

  it('is not read behind the end of its turn', async () => {
    const turn = new AbortController()
    const { sink } = await site({
      '/': (_request, response) => {
        response.writeHead(200, HTML).write('<h1>Half</h1>', () => turn.abort())
      },
    })
    const web = createWebAccess({ door: testDoor(), clock: systemClock, converter })
    const page = web.fetch(`http://example.org:${sink.port}/`, turn.signal, 'ada')
    await expect(page).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('an answer that is a refusal', () => {
  it.each([
    [
      404,
      HTML,
      '<title>no</title><nav>Menu</nav><h1>No such pump</h1><script>x</script>',
      'answered 404 (Not Found) for this address. It says: “No such pump”',
    ],
    [403, { 'content-type': 'application/json' }, '{"message":"key needed"}', 'It says: “{"message":"key needed"}”'],
    [410, {}, 'Gone since 2020', 'answered 410 (Gone) for this address. It says: “Gone since 2020”'],
    [429, { 'retry-after': '17' }, 'slow', 'It asks to try again in 17 seconds. It says: “slow”'],
    [503, { 'retry-after': 'soon' }, '', 'answered 503 (Service Unavailable) for this address.'],
    [403, { 'cf-mitigated': 'challenge', ...HTML }, '<title>x', 'A check against robots stands before this page'],
    [
      503,
      HTML,
      '<title>site.example</title><p>Verifying you are human. This may take a few seconds.',
      'for this address. A check against robots stands before this page, which cannot be passed here. It says: “',
    ],
    [403, {}, '<!DOCTYPE html><title>Just a moment...</title><h1>x</h1>', 'A check against robots stands before'],
    [401, HTML, '<title>Sign in</title><input type=password>', 'This is a page to log in'],
    [503, HTML, '<h1>Down for repairs</h1>', 'for this address. It says: “Down for repairs”'],
    [500, {}, Buffer.from([0, 1, 2]), 'answered 500 (Internal Server Error) for this address.'],
    [304, {}, '', 'answered 304 (Not Modified)'],
    [451, HTML, `<p>${'why '.repeat(400)}`, '“why why'],
  ])('says why: %i %o', async (status, headers, body, words) => {
    const { read } = await site({ '/': { status, headers, body } })
    const error = await read('/').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining(words) })
    expect((error as Error).message.length).toBeLessThan(600)
  })

  it('names the wait until a time', async () => {
    const until = new Date(Date.now() + 90_000).toUTCString()
    const { read } = await site({ '/': { status: 503, headers: { 'retry-after': until } } })
    await expect(read('/')).rejects.toThrow(/try again in (?:8|9)\d seconds/)
  })

  it.each([
    [204, {}, /answered 204 \(No Content\) without any content\.$/],
    [200, HTML, /answered 200 \(OK\) without any content\.$/],
    [202, HTML, /answered 202 \(Accepted\) without any content; it may want scripts/],
  ])('is a page without a text where it has none: %i', async (status, headers, words) => {
    const { read } = await site({ '/': { status, headers } })
    expect(await read('/')).toMatchObject({ kind: 'text', text: '', notes: [expect.stringMatching(words)] })
  })

  it('is a page where its status says so', async () => {
    const { read } = await site({ '/': { headers: HTML, body: '<h1>404</h1>' } })
    expect(await read('/')).toMatchObject({ text: '# 404' })
  })
})

describe('an address that answers by TLS alone', () => {
  /** A door that answers by TLS, and without it as told. */
  function doorWith(plain: Door['ask']) {
    const asked: string[] = []
    const ask: Door['ask'] = async (address, request) => {
      asked.push(address)
      if (address.startsWith('http:')) return plain(address, request)
      const body = { bytes: Buffer.from('<h1>Safe</h1>'), cut: false }
      return { kind: 'answer', url: new URL(address), status: 200, headers: HTML, ...body }
    }
    return { asked, web: createWebAccess({ door: { ask }, clock: systemClock, converter }) }
  }
  const failing =
    (code: string): Door['ask'] =>
    async () => {
      throw new ParleyError('unavailable', code, { cause: Object.assign(new Error(code), { code }) })
    }

  it.each(['ECONNREFUSED', 'ECONNRESET', 'HPE_INVALID_CONSTANT'])('is asked so behind %s', async (code) => {
    const { web, asked } = doorWith(failing(code))
    expect(await web.fetch('http://example.org/a', wanted.signal, 'ada')).toMatchObject({ text: '# Safe' })
    expect(asked).toEqual(['http://example.org/a', 'https://example.org/a'])
  })

  it.each(['ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH'])('is not asked so behind %s', async (code) => {
    const { web, asked } = doorWith(failing(code))
    await expect(web.fetch('http://example.org/a', wanted.signal, 'ada')).rejects.toThrow(code)
    expect(asked).toHaveLength(1)
  })

  it('is asked so where a server of TLS hears plain words', async () => {
    const server = createServer(SELF_SIGNED, (_request, response) => response.end('inside'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const address = `http://example.org:${(server.address() as AddressInfo).port}/`
    const { web, asked } = doorWith(testDoor().ask)
    expect(await web.fetch(address, wanted.signal, 'ada')).toMatchObject({ text: '# Safe' })
    expect(asked).toHaveLength(2)
  })

  it('is asked so where the answer says it, and else its own failure is told', async () => {
    const said = '<h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port'
    const { sink } = await site({ '/': { status: 400, headers: HTML, body: said } })
    const { web } = doorWith(testDoor().ask)
    expect(await web.fetch(`http://example.org:${sink.port}/`, wanted.signal, 'ada')).toMatchObject({ text: '# Safe' })
    const both = createWebAccess({ door: { ask: failing('ECONNREFUSED') }, clock: systemClock, converter })
    await expect(both.fetch('http://example.org/', wanted.signal, 'ada')).rejects.toThrow('ECONNREFUSED')
  })
})
