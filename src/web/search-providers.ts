import type { SearchResult, WebQuery } from '../core/web.ts'
import type { DoorRequest } from './door.ts'

/** The one interface behind which search services are. */
export interface SearchProvider {
  /** The address of the service, without the path of the search; absent where each has its own. */
  readonly usualUrl?: string
  request(query: WebQuery, service: { readonly url: string; readonly apiKey: string }): SearchRequest
  /** Returns the results in an answer. Throws `TypeError` for an answer of another form. */
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
  read: (answer) => listIn(answer, 'results').map((one) => result(one, 'content')),
}

const brave: SearchProvider = {
  usualUrl: 'https://api.search.brave.com',
  refused: KEY_REFUSED,
  request: ({ query, count }, { url, apiKey }) => ({
    address: withQuery(`${url}/res/v1/web/search`, { q: shortened(query), count: String(count) }),
    headers: { ...JSON_ONLY, 'x-subscription-token': apiKey },
  }),
  // The part of the web is left out if nothing was found.
  read(answer) {
    const { web = { results: [] } } = fieldsOf(answer)
    return listIn(web, 'results').map((one) => result(one, 'description'))
  },
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
  read: (answer) => listIn(answer, 'results').map((one) => result(one, 'content')),
}

const JSON_ONLY = { accept: 'application/json' }

export const SEARCH_PROVIDERS = { searxng, brave, tavily } as const

function withQuery(address: string, fields: Readonly<Record<string, string>>): string {
  return `${address}?${new URLSearchParams(fields)}`
}

function shortened(query: string): string {
  return query.split(/\s+/).slice(0, MOST_WORDS).join(' ').slice(0, LONGEST_QUERY)
}

function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = fieldsOf(answer)[name]
  if (!Array.isArray(list)) throw new TypeError(`${name} is no list`)
  return list
}

function result(one: unknown, words: 'content' | 'description'): SearchResult {
  const { url, title, [words]: text } = fieldsOf(one)
  if (typeof url !== 'string' || typeof title !== 'string') throw new TypeError('a result has no address or no title')
  return { url, title, text: typeof text === 'string' ? text : '' }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('it is no object')
  return { ...value }
}
