import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from '../http-server.ts'

/** A page of the rehearsed web, as a search finds it. */
export interface FoundPage {
  readonly url: string
  readonly title: string
  readonly text: string
}

export type ServiceName = 'searxng' | 'brave' | 'tavily'

export interface ServiceCall {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly apiKey: string
}

/** A search that passed the rules of its service. */
export interface AcceptedSearch {
  readonly query: string
  readonly count: number
}

/** One search service: it refuses what the real one refuses, and answers in its form. */
export interface SearchRehearsal {
  /** Throws `SearchRefusal`. */
  accept(call: ServiceCall): AcceptedSearch
  answer(search: AcceptedSearch, found: readonly FoundPage[]): object
}

export class SearchRefusal extends Error {
  readonly answer: Answer

  constructor(status: number, body: string | object) {
    super(typeof body === 'string' ? body : JSON.stringify(body))
    this.answer = { status, body: this.message }
  }
}

const SEARXNG_FIELDS: ReadonlySet<string> = new Set([
  ...['q', 'format', 'categories', 'engines', 'language', 'pageno', 'time_range', 'safesearch'],
])

const searxng: SearchRehearsal = {
  accept({ url: { searchParams: fields } }) {
    const unknown = [...fields.keys()].find((name) => !SEARXNG_FIELDS.has(name))
    const query = fields.get('q') ?? ''
    if (unknown !== undefined) throw new SearchRefusal(400, `Unknown field ${unknown}`)
    if (query.trim() === '') throw new SearchRefusal(400, 'No query')
    // A format that the settings do not list is forbidden; without one the answer is a page.
    if (fields.get('format') !== 'json') throw new SearchRefusal(403, '<!doctype html><title>403 Forbidden</title>')
    return { query, count: 10 }
  },
  answer: ({ query }, found) => ({
    ...{ query, number_of_results: 0, answers: [], corrections: [], infoboxes: [], suggestions: [] },
    results: found.map(({ url, title, text }, at) => ({
      ...{ url, title, content: text, publishedDate: null, engine: 'rehearsal', template: 'default.html' },
      ...{ parsed_url: [new URL(url).protocol, new URL(url).host], engines: ['rehearsal'], positions: [at + 1] },
      ...{ score: 1 / (at + 1), category: 'general' },
    })),
    unresponsive_engines: [['other', 'timeout']],
  }),
}

const BRAVE_FIELDS: ReadonlySet<string> = new Set([
  ...['q', 'count', 'offset', 'country', 'search_lang', 'ui_lang', 'safesearch', 'freshness', 'text_decorations'],
  ...['spellcheck', 'result_filter', 'extra_snippets', 'summary', 'units'],
])

const brave: SearchRehearsal = {
  accept({ url: { searchParams: fields }, headers, apiKey }) {
    if (headers['x-subscription-token'] === undefined)
      throw braveError('VALIDATION', 'Unable to validate request parameter(s)')
    if (headers['x-subscription-token'] !== apiKey)
      throw braveError('SUBSCRIPTION_TOKEN_INVALID', 'The provided subscription token is invalid.')
    if (!/\bjson\b|\*\/\*/.test(headers.accept ?? '*/*')) throw braveError('VALIDATION', 'accept')
    const query = fields.get('q') ?? ''
    const count = Number(fields.get('count') ?? 20)
    const badQuery = query.trim() === '' || query.length > 400 || query.trim().split(/\s+/).length > 50
    const badField = [...fields.keys()].find((name) => !BRAVE_FIELDS.has(name))
    if (badQuery || badField !== undefined || !Number.isInteger(count) || count < 1 || count > 20)
      throw braveError('VALIDATION', 'Unable to validate request parameter(s)')
    return { query, count }
  },
  answer: ({ query, count }, found) => ({
    ...{ type: 'search', query: { original: query, show_strict_warning: false, more_results_available: false } },
    ...(found.length === 0
      ? {}
      : {
          web: {
            type: 'search',
            results: found.slice(0, count).map(({ url, title, text }) => ({
              ...{ type: 'search_result', url, title, family_friendly: true, language: 'en' },
              description: text.replace(/^\S+/, '<strong>$&</strong>').replaceAll("'", '&#x27;'),
            })),
            family_friendly: true,
          },
        }),
  }),
}

function braveError(code: string, detail: string): SearchRefusal {
  const error = { id: '00000000-0000-4000-8000-000000000000', status: 422, code, detail, meta: {} }
  return new SearchRefusal(422, { type: 'ErrorResponse', error, time: 0 })
}

const TAVILY_FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  query: (value) => typeof value === 'string' && value.trim() !== '',
  max_results: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 20,
  search_depth: (value) => value === 'basic' || value === 'advanced',
  topic: (value) => value === 'general' || value === 'news' || value === 'finance',
}

const tavily: SearchRehearsal = {
  accept({ headers, body, apiKey }) {
    if (headers.authorization !== `Bearer ${apiKey}`)
      throw new SearchRefusal(401, { detail: { error: 'Unauthorized: missing or invalid API key.' } })
    if (!headers['content-type']?.startsWith('application/json')) throw tavilyError('body', 'Input should be an object')
    const fields = fieldsOf(body)
    for (const [name, value] of Object.entries(fields)) {
      const fits = Object.hasOwn(TAVILY_FIELDS, name) ? TAVILY_FIELDS[name] : undefined
      if (!fits?.(value)) throw tavilyError(name, 'Input is not valid')
    }
    if (fields.query === undefined) throw tavilyError('query', 'Field required')
    return { query: String(fields.query), count: Number(fields.max_results ?? 5) }
  },
  answer: ({ query, count }, found) => ({
    ...{ query, follow_up_questions: null, answer: null, images: [], response_time: 0.1, request_id: 'rehearsal' },
    results: found.slice(0, count).map(({ url, title, text }, at) => ({
      ...{ url, title, content: text, score: 1 / (at + 1), raw_content: null },
    })),
  }),
}

function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // It is refused below, like any other value that is no object.
  }
  throw tavilyError('body', 'JSON decode error')
}

function tavilyError(field: string, msg: string): SearchRefusal {
  return new SearchRefusal(422, { detail: [{ type: 'value_error', loc: ['body', field], msg }] })
}

/** The services by the method and the path of their search. */
export const SEARCHES: ReadonlyMap<string, { readonly name: ServiceName; readonly service: SearchRehearsal }> = new Map(
  [
    ['GET /search', { name: 'searxng', service: searxng }],
    ['GET /res/v1/web/search', { name: 'brave', service: brave }],
    ['POST /search', { name: 'tavily', service: tavily }],
  ],
)
