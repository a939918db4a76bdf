import { askedWait, type Clock } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError } from '../core/errors.ts'
import { parseUrl } from '../core/parse-url.ts'
import { readJson } from '../core/read-json.ts'
import type { SearchResult, SearchWeb, WebQuery } from '../core/web.ts'
import type { Door, DoorAnswer, DoorRequest } from './door.ts'
import { plainText } from './plain-text.ts'

interface SearchService {
  readonly provider: keyof typeof SEARCH_PROVIDERS
  readonly url?: string
  readonly apiKey?: string
}

type Answer = Extract<DoorAnswer, { kind: 'answer' }>

/** Brave's word for a wrong key, with the status of a malformed search. */
const KEY_INVALID = 'SUBSCRIPTION_TOKEN_INVALID'
const LONGEST_TITLE = 200
const LONGEST_TEXT = 600
const LONGEST_DATE = 40
/** Characters of a title, a text or an address that are looked at, with its marks of HTML. */
const LOOKED_AT = 20_000
/** Results that are looked at, of which those without an address are left out. */
const MOST_RESULTS = 200

/** Returns the search by a configured service. Its origin is the operator's own word, so that it may be anywhere. */
export function createSearch(
  { provider: name, url: own, apiKey = '' }: SearchService,
  { door, clock }: { readonly door: Door; readonly clock: Clock },
): SearchWeb {
  const provider: SearchProvider = SEARCH_PROVIDERS[name]
  const url = (own ?? provider.usualUrl ?? '').replace(/\/+$/, '')
  return async (query, signal) => {
    const { address, ...request } = provider.request(query, { url, apiKey })
    const answer = await door.ask(address, { ...request, signal, configured: true })
    if (answer.kind === 'redirect' || answer.url.href !== new URL(address).href)
      throw failed('is at another address by now; an owner has to set tools.web.search.url')
    if (answer.status !== 200) throw refusal(answer, provider, clock)
    return readAnswer(answer, provider).flatMap(shownResult).slice(0, query.count)
  }
}

function readAnswer({ bytes, cut }: Answer, provider: SearchProvider): readonly SearchResult[] {
  if (cut) throw failed('sent more than is read')
  const answer = parsed(bytes)
  try {
    return provider.read(answer)
  } catch (cause) {
    throw failed('sent an answer in a form that is not known', cause)
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return readJson(bytes, DOORS.search)
  } catch (cause) {
    throw failed('sent an answer that is no JSON, or only a part of it', cause)
  }
}

/** A result without a web address cannot be read, and is left out; one without a title is named by its address. */
function shownResult({ url, title, text, date }: SearchResult): SearchResult | [] {
  if (url.length > LOOKED_AT || !/^https?:$/.test(parseUrl(url)?.protocol ?? '')) return []
  const named = plain(title).slice(0, LONGEST_TITLE) || url.slice(0, LONGEST_TITLE)
  const shown = { url, title: named, text: plain(text).slice(0, LONGEST_TEXT) }
  const day = date === undefined ? '' : dayOf(plain(date).slice(0, LONGEST_DATE))
  return day === '' ? shown : { ...shown, date: day }
}

/** Marks of words that were found, which may stand within a word. */
const INLINE_MARK = /<\/?(?:b|strong|em|i|mark|span|u|small|wbr)(?:\s[^<>]{0,200})?\/?>/gi

function plain(html: string): string {
  return plainText(html.slice(0, LOOKED_AT).replace(INLINE_MARK, ''))
}

/** Returns the day of a time; words that are none, as in `2 days ago`, stay. */
function dayOf(date: string): string {
  const [day] = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/.exec(date) ?? []
  const time = Date.parse(date)
  return day ?? (Number.isNaN(time) ? date : new Date(time).toISOString().slice(0, 10))
}

function refusal({ status, headers, bytes }: Answer, { refused }: SearchProvider, clock: Clock): ParleyError {
  if (status === 429) return failed(`has had too many searches; try again in ${waitOf(headers, clock)} seconds`)
  if (status === 401 || status === 403 || bytes.includes(KEY_INVALID)) return failed(refused)
  // Tavily's own numbers for a plan that is used up.
  if (status === 402 || status === 432 || status === 433) return failed('has no searches left in the plan of its key')
  if (status >= 500) return failed(`is out of order (${status}); try again later`)
  return failed(`did not accept the search (${status}); ask in other words`)
}

/** Brave names the seconds until each of its limits begins anew, the shortest first. */
function waitOf(headers: Answer['headers'], clock: Clock): number {
  const asked = headers['retry-after'] ?? headers['x-ratelimit-reset']?.split(',')[0] ?? ''
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(asked) ? Number(asked) : (Date.parse(asked) - clock.now()) / 1000
  return Math.max(1, Math.ceil(askedWait(seconds * 1000) / 1000))
}

function failed(words: string, cause?: unknown): ParleyError {
  return new ParleyError('unavailable', `The search service ${words}.`, { cause })
}

/** The one interface behind which search services are. */
interface SearchProvider {
  /** The address of the service, without the path of the search; absent where each has its own. */
  readonly usualUrl?: string
  request(query: WebQuery, service: { readonly url: string; readonly apiKey: string }): SearchRequest
  /** Returns the results in an answer, without what is none. Throws `TypeError` for an answer of another form. */
  read(answer: unknown): readonly SearchResult[]
  /** The remedy where the service refuses whoever asks. */
  readonly refused: string
}

interface SearchRequest extends Pick<DoorRequest, 'method' | 'body' | 'headers'> {
  readonly address: string
}

const KEY_REFUSED = 'refuses its key; an owner has to set tools.web.search.apiKey'

/** The longest query of Brave; the others take longer ones. */
const LONGEST_QUERY = 400
const MOST_WORDS = 50

const searxng: SearchProvider = {
  refused: 'refuses to answer in JSON; an owner has to add json to search.formats in its settings',
  request: ({ query }, { url }) => ({
    address: withQuery(`${url}/search`, { q: query, format: 'json' }),
    headers: JSON_ONLY,
  }),
  read: (answer) => resultsIn(answer, { text: ['content'], date: ['publishedDate', 'pubdate'] }),
}

const brave: SearchProvider = {
  usualUrl: 'https://api.search.brave.com',
  refused: KEY_REFUSED,
  request: ({ query, count }, { url, apiKey }) => ({
    address: withQuery(`${url}/res/v1/web/search`, { q: shortened(query), count: String(count) }),
    headers: { ...JSON_ONLY, 'x-subscription-token': apiKey },
  }),
  // The part of the web is left out if nothing was found.
  read: (answer) =>
    resultsIn(fieldsOf(answer).web ?? NOTHING_FOUND, { text: ['description'], date: ['page_age', 'age'] }),
}

const tavily: SearchProvider = {
  usualUrl: 'https://api.tavily.com',
  refused: KEY_REFUSED,
  request: ({ query, count }, { url, apiKey }) => ({
    address: `${url}/search`,
    method: 'POST',
    headers: { ...JSON_ONLY, 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ query, max_results: count, search_depth: 'basic' }),
  }),
  read: (answer) => resultsIn(answer, { text: ['content'], date: ['published_date'] }),
}

const NOTHING_FOUND = { results: [] }
const JSON_ONLY = { accept: 'application/json' }

const SEARCH_PROVIDERS = { searxng, brave, tavily } as const

function withQuery(address: string, fields: Readonly<Record<string, string>>): string {
  return `${address}?${new URLSearchParams(fields)}`
}

function shortened(query: string): string {
  return query.split(/\s+/).slice(0, MOST_WORDS).join(' ').slice(0, LONGEST_QUERY)
}

/** The names under which a service has the parts of a result, the best first. */
interface Names {
  readonly text: readonly string[]
  readonly date: readonly string[]
}

/** A list without a single result is of another form; an empty one says that nothing was found. */
function resultsIn(answer: unknown, names: Names): readonly SearchResult[] {
  const { results: list } = fieldsOf(answer)
  if (list === null) return []
  if (!Array.isArray(list)) throw new TypeError('the results are no list')
  const results = list.slice(0, MOST_RESULTS).flatMap((one) => resultOf(one, names))
  if (results.length === 0 && list.length > 0) throw new TypeError('no result has an address')
  return results
}

function resultOf(one: unknown, { text, date }: Names): SearchResult | [] {
  if (typeof one !== 'object' || one === null) return []
  const fields: Readonly<Record<string, unknown>> = { ...one }
  const { url, title } = fields
  if (typeof url !== 'string') return []
  const first = (all: readonly string[]): string | undefined =>
    all.map((name) => fields[name]).find((value): value is string => typeof value === 'string')
  const when = first(date)
  return {
    url,
    title: typeof title === 'string' ? title : '',
    text: first(text) ?? '',
    ...(when === undefined ? {} : { date: when }),
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('it is no object')
  return { ...value }
}
