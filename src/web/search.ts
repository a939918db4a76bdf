import { askedWait, type Clock } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError } from '../core/errors.ts'
import { parseUrl } from '../core/parse-url.ts'
import { readJson } from '../core/read-json.ts'
import type { SearchResult, SearchWeb } from '../core/web.ts'
import type { Door, DoorAnswer } from './door.ts'
import { plainText } from './plain-text.ts'
import { SEARCH_PROVIDERS, type SearchProvider } from './search-providers.ts'

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
    return readAnswer(answer, provider).slice(0, MOST_RESULTS).flatMap(shownResult).slice(0, query.count)
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

/** A result without a web address cannot be read, and is left out. */
function shownResult({ url, title, text }: SearchResult): SearchResult | [] {
  if (url.length > LOOKED_AT || !/^https?:$/.test(parseUrl(url)?.protocol ?? '')) return []
  const plain = (html: string): string => plainText(html.slice(0, LOOKED_AT))
  return { url, title: plain(title).slice(0, LONGEST_TITLE), text: plain(text).slice(0, LONGEST_TEXT) }
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
