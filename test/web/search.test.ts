import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { type SearchServer, startSearchServer } from '../../src/rehearsal/web/server.ts'
import { createSearch } from '../../src/web/search.ts'
import { startSink, testDoor } from './net.ts'

const PROVIDERS = ['searxng', 'brave', 'tavily'] as const
const { signal } = new AbortController()
const pages = [
  { url: 'https://a.example.org/', title: 'A & b', text: "the garden's wall" },
  { url: 'ftp://b.example.org/', title: 'No page', text: 'x' },
  { url: 'https://c.example.org/?x=1', title: 'C', text: 'long '.repeat(500) },
  { url: 'https://d.example.org/', title: 'D', text: '' },
]

async function rehearse(): Promise<SearchServer> {
  const server = await startSearchServer({ find: (query) => (query === 'nothing' ? [] : pages) })
  onTestFinished(() => server.close())
  return server
}

function searchBy(provider: (typeof PROVIDERS)[number], service: { url: string; apiKey?: string }) {
  return createSearch({ provider, ...service }, { door: testDoor(), clock: systemClock })
}

describe.each(PROVIDERS)('a search by %s', (provider) => {
  it('lists titles, addresses and words, no more than asked for', async () => {
    const server = await rehearse()
    const search = searchBy(provider, server)
    const results = await search({ query: 'garden', count: 3 }, signal)
    expect(results.slice(0, 1)).toEqual([{ url: 'https://a.example.org/', title: 'A & b', text: "the garden's wall" }])
    expect(results.map(({ url }) => url)).not.toContain('ftp://b.example.org/')
    expect(results.length).toBeLessThanOrEqual(3)
    expect(Math.max(...results.map(({ text }) => text.length))).toBeLessThanOrEqual(600)
    expect(await search({ query: 'nothing', count: 3 }, signal)).toEqual([])
    expect(server.ledger.all(({ kind }) => kind === 'refused')).toEqual([])
  })

  it('takes a query as long as a model may write it', async () => {
    const server = await rehearse()
    await searchBy(provider, server)({ query: 'a & b? '.repeat(140), count: 20 }, signal)
    expect(server.ledger.entries).toMatchObject([{ kind: 'search', service: provider }])
  })

  it('says who has to set the key that is refused', async () => {
    const server = await rehearse()
    const asked = searchBy(provider, { url: server.url, apiKey: 'wrong' })({ query: 'garden', count: 3 }, signal)
    if (provider === 'searxng') expect(await asked).not.toEqual([])
    else await expect(asked).rejects.toThrow('refuses its key; an owner has to set tools.web.search.apiKey')
  })

  it.each([
    [429, { 'retry-after': '17' }, 'try again in 17 seconds'],
    [429, { 'x-ratelimit-reset': '2, 1419704' }, 'try again in 2 seconds'],
    [429, {}, 'try again in 5 seconds'],
    [500, {}, 'is out of order (500)'],
    [503, { 'retry-after': '5' }, 'is out of order (503)'],
    [432, {}, 'has no searches left'],
    [418, {}, 'did not accept the search (418)'],
    [200, {}, 'no JSON, or only a part of it', '<html>'],
    [200, {}, 'a form that is not known', '[]'],
    [200, {}, 'a form that is not known', 'null'],
    [200, {}, 'a form that is not known', '{"results":[7],"web":{"results":[7]}}'],
    [200, {}, 'a form that is not known', '{"results":[{"url":1,"title":"x"}],"web":{"results":"x"}}'],
    [302, { location: 'https://other.example.org/' }, 'is at another address by now'],
  ])('says in a sentence that it failed with %i %o', async (status, headers, words, body = 'no') => {
    const server = await rehearse()
    server.faults.add({ action: { kind: 'answer', when: 'before', status, body, headers: { ...headers } } })
    const asked = searchBy(provider, server)({ query: 'garden', count: 3 }, signal)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(words) })
  })

  it('says so of an answer that is torn, and of a line that is cut', async () => {
    const server = await rehearse()
    const search = searchBy(provider, server)
    server.faults.add({ action: { kind: 'truncate', bytes: 100 } })
    await expect(search({ query: 'garden', count: 3 }, signal)).rejects.toThrow('only a part of it')
    server.faults.add({ action: { kind: 'drop', when: 'after' } })
    await expect(search({ query: 'garden', count: 3 }, signal)).rejects.toThrow('broke off')
  })
})

it('a SearXNG that answers no JSON says what an owner has to add', async () => {
  const sink = await startSink((_request, response) => response.writeHead(403).end('<html>'))
  const search = searchBy('searxng', { url: `http://127.0.0.1:${sink.port}/` })
  await expect(search({ query: 'x', count: 1 }, signal)).rejects.toThrow('an owner has to add json to search.formats')
  expect(sink.asked).toEqual([`127.0.0.1:${sink.port}/search?q=x&format=json`])
})

/** An answer of each service with these results in it. */
const ANSWERS = {
  searxng: (results: unknown) => ({ query: 'x', results, unresponsive_engines: [] }),
  brave: (results: unknown) => ({ type: 'search', web: { type: 'search', results } }),
  tavily: (results: unknown) => ({ query: 'x', answer: null, results }),
}
const WORDS = { searxng: 'content', brave: 'description', tavily: 'content' }
const DATES = { searxng: 'publishedDate', brave: 'page_age', tavily: 'published_date' }

describe.each(PROVIDERS)('an answer of %s', (provider) => {
  async function answered(answer: unknown) {
    const sink = await startSink((_request, response) => response.end(JSON.stringify(answer)))
    return searchBy(provider, { url: `http://127.0.0.1:${sink.port}` })({ query: 'x', count: 20 }, signal)
  }
  const whole = { url: 'https://a.example.org/', title: 'A', [WORDS[provider]]: 'a' }
  const shown = { url: 'https://a.example.org/', title: 'A', text: 'a' }

  it.each([
    ['no address', { title: 'B' }],
    ['an address that is a number', { url: 7, title: 'B' }],
    ['an address of another kind', { url: 'file:///etc/passwd', title: 'B' }],
    ['nothing', null],
    ['a list', []],
    ['a word', 'B'],
  ])('loses a result with %s, and no other', async (_name, one) => {
    expect(await answered(ANSWERS[provider]([one, whole, one]))).toEqual([shown])
  })

  it.each([
    ['no', {}],
    ['an empty', { title: ' ' }],
    ['null as its', { title: null }],
    ['a number as its', { title: 7 }],
    ['nothing but marks as its', { title: '<b></b>&nbsp;' }],
  ])('names a result with %s title by its address, also where no other has one', async (_name, title) => {
    const one = { url: 'https://b.example.org/x', ...title, [WORDS[provider]]: null }
    const untitled = { url: 'https://b.example.org/x', title: 'https://b.example.org/x', text: '' }
    expect(await answered(ANSWERS[provider]([one, whole]))).toEqual([untitled, shown])
    expect(await answered(ANSWERS[provider]([one]))).toEqual([untitled])
  })

  it('has a result without words, and with fields nobody knows', async () => {
    const odd = { ...whole, [WORDS[provider]]: null, engines: [{ deep: [1] }], score: 'x', thumbnail: null }
    expect(await answered(ANSWERS[provider]([odd]))).toEqual([{ ...shown, text: '' }])
  })

  it.each([
    ['2026-11-28T10:00:00', '2026-11-28'],
    ['2026-11-28', '2026-11-28'],
    ['Sat, 28 Nov 2026 10:00:00 GMT', '2026-11-28'],
    ['2 days ago', '2 days ago'],
    [null, undefined],
    [17, undefined],
    ['', undefined],
  ])('has the day of a result: %s', async (date, day) => {
    const [result] = await answered(ANSWERS[provider]([{ ...whole, [DATES[provider]]: date }]))
    expect(result?.date).toBe(day)
  })

  it('has titles without marks and entities', async () => {
    const title = '<b>Gar</b>den&#39;s <strong>wall</strong>, caf&eacute; &amp; more &ndash; 5 &lt; 6 &hellip;'
    expect(await answered(ANSWERS[provider]([{ ...whole, title }]))).toEqual([
      { ...shown, title: "Garden's wall, café & more – 5 < 6 …" },
    ])
  })

  it.each([[[]], [null]])('without a result is empty: %j', async (results) => {
    expect(await answered(ANSWERS[provider](results))).toEqual([])
  })
})

it('an answer of brave without pages is empty', async () => {
  const answers = [{ type: 'search' }, { type: 'search', web: null }, { type: 'search', web: { results: [] } }]
  for (const answer of answers) {
    const sink = await startSink((_request, response) => response.end(JSON.stringify(answer)))
    const search = searchBy('brave', { url: `http://127.0.0.1:${sink.port}` })
    expect(await search({ query: 'x', count: 5 }, signal)).toEqual([])
  }
})

const json = { authorization: 'Bearer rehearsal-key', 'content-type': 'application/json' }
const brave = { 'x-subscription-token': 'rehearsal-key' }

describe('the rehearsed search services', () => {
  it.each([
    { asked: 'GET /search?format=json', status: 400 },
    { asked: 'GET /search?q=x', status: 403 },
    { asked: 'GET /search?q=x&format=json&count=3', status: 400 },
    { asked: 'GET /res/v1/web/search?q=x', status: 422 },
    { asked: 'GET /res/v1/web/search?q=x', headers: { 'x-subscription-token': 'other' }, status: 422 },
    { asked: 'GET /res/v1/web/search?q=x&count=21', headers: brave, status: 422 },
    { asked: `GET /res/v1/web/search?q=${'x'.repeat(401)}`, headers: brave, status: 422 },
    { asked: 'POST /search', body: '{"query":"x"}', status: 401 },
    { asked: 'POST /search', headers: { ...json, 'content-type': 'text/plain' }, body: '{"query":"x"}', status: 422 },
    { asked: 'POST /search', headers: json, body: '{', status: 422 },
    { asked: 'POST /search', headers: json, body: '{"q":1}', status: 422 },
    { asked: 'POST /search', headers: json, body: '{"query":"x","max_results":21}', status: 422 },
    { asked: 'POST /search', headers: json, body: '{}', status: 422 },
    { asked: 'GET /other', status: 404 },
  ])('$asked $headers $body is refused with $status', async ({ asked, status, ...rest }) => {
    const server = await rehearse()
    const [method = '', path = ''] = asked.split(' ')
    const answer = await fetch(`${server.url}${path}`, { method, ...(rest as RequestInit) })
    expect(answer.status).toBe(status)
    expect(server.ledger.entries).toMatchObject([{ kind: 'refused', status }])
  })
})
