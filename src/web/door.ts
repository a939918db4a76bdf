import { promises as dns, type LookupAddress } from 'node:dns'
import { setMaxListeners } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { pipeline, Readable, type Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import type { Clock } from '../core/clock.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { parseUrl } from '../core/parse-url.ts'
import { Bytes } from '../core/read-bytes.ts'
import { OWN_ISSUER, UNKNOWN_ISSUER } from '../core/wire-error.ts'
import { ProxyFailed, throughProxy } from '../platform/way-out.ts'
import { hostOf, isAmong, isPublicAddress, notPublic, readPublicUrl, readWebUrl } from './public-address.ts'

/** The one door by which anything of the tools goes out to the net. */
export interface Door {
  /**
   * Asks a web server, and follows redirects within its site. The address of each hop is checked when the connection is
   * made, and the connection goes to that very address. Throws `forbidden` for what is not on the public net, `invalid`
   * for what is no web address, `aborted`, and `unavailable` in words for the model for everything that fails.
   */
  ask(this: void, address: string, request: DoorRequest): Promise<DoorAnswer>
}

/** The door for those who read events as they come. */
export interface StreamingDoor extends Door {
  /**
   * Asks as `ask` does, but returns an ok answer of the type text/event-stream as it comes. Such a stream has no limit
   * of time: the signal ends it.
   */
  open(this: void, address: string, request: DoorRequest): Promise<DoorAnswer | DoorStream>
}

export interface DoorRequest {
  readonly signal: AbortSignal
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: string | Uint8Array
  /** They are sent to the first host alone. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The address is an operator's own word: its origin may be anywhere. No redirect has that, and nothing a model says
   * ever becomes one.
   */
  readonly configured?: true
  /** False: no redirect is followed, and where it leads is the caller's to judge. */
  readonly follow?: false
  /**
   * The request is one of a person's visit: cookies that its site sets are sent back to it, and of an answer that
   * breaks off its beginning is returned.
   */
  readonly visit?: Visit
}

/** The cookies of one visit to one site, by their names. No other visit is given them. */
export type Visit = Map<string, string>

/** `redirect`: the page is on another site, where nobody has asked for it; it was not followed. */
export type DoorAnswer =
  | { readonly kind: 'redirect'; readonly url: URL; readonly to: URL; readonly status: number }
  | ({ readonly kind: 'answer'; readonly url: URL; readonly status: number; readonly headers: AnswerHeaders } & Body)

/** The events of a server. Reading throws `unavailable` in words where the stream breaks off. */
export interface DoorStream {
  readonly kind: 'stream'
  readonly url: URL
  readonly status: number
  readonly headers: AnswerHeaders
  /** The decoded bytes. Whoever stops reading early destroys it, which ends the connection. */
  readonly body: Readable
}

type AnswerHeaders = Readonly<Record<string, string>>

export interface DoorDeps {
  readonly clock: Clock
  /** Returns all addresses of a name; the system's by default. */
  resolve?(this: void, host: string): Promise<readonly string[]>
  /** Returns the addresses of this machine; those of its network interfaces by default. */
  own?(this: void): readonly string[]
  /** Returns the address to connect to for one that has passed: another one on a test's own net, else the same. */
  landing?(this: void, address: string): string
  /** The time for everything, in ms. */
  readonly withinMs?: number
  /** Bytes of a decoded body. */
  readonly most?: number
}

const WITHIN_MS = 20_000
const MOST_BYTES = 5_000_000
const MOST_REDIRECTS = 5
const ACCEPTED = 'text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5'
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Makes the door. The library is loaded when somebody first goes through it. */
export function createDoor(deps: DoorDeps): StreamingDoor {
  return {
    async ask(address, request) {
      const answer = await inTime(deps, address, request)
      // Nothing but `open` asks for a stream.
      if (answer.kind === 'stream') throw new ParleyError('internal', 'a stream that nobody asked for')
      return answer
    },
    open: (address, request) => inTime(deps, address, { ...request, streams: true }),
  }
}

type Answered = DoorAnswer | DoorStream

/** `streams`: events are returned as they come. */
interface Asking extends DoorRequest {
  readonly streams?: true
}

async function inTime(deps: DoorDeps, address: string, request: Asking): Promise<Answered> {
  const { clock, withinMs = WITHIN_MS } = deps
  const url = request.configured ? readWebUrl(address) : readPublicUrl(address)
  const late = new AbortController()
  const cancel = clock.after(withinMs, () => late.abort())
  const signal = AbortSignal.any([request.signal, late.signal])
  // Each hop listens to it, and Node warns on stderr of more than ten.
  setMaxListeners(0, signal)
  try {
    const answer = await visit(deps, url, { ...request, signal })
    // The beginning of an answer may be there even so.
    request.signal.throwIfAborted()
    return answer
  } catch (error) {
    if (request.signal.aborted) throw new ParleyError('aborted', 'The page is no longer wanted.')
    if (late.signal.aborted)
      throw new ParleyError('unavailable', `${url.host} did not answer within ${withinMs / 1000} seconds.`)
    throw error
  } finally {
    cancel()
  }
}

async function visit(deps: DoorDeps, first: URL, request: Asking): Promise<Answered> {
  let url = first
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const { signal, visit: cookies } = request
    const answer = await ask(deps, url, hop === 0 ? request : { signal, ...(cookies ? { visit: cookies } : {}) })
    if (answer.kind !== 'redirect' || request.follow === false || !isSameSite(url, answer.to)) return answer
    url = answer.to
  }
  throw new ParleyError('unavailable', `${first.host} redirects more than ${MOST_REDIRECTS} times.`)
}

async function ask(deps: DoorDeps, url: URL, request: Asking): Promise<Answered> {
  const { method = 'GET', body, headers, signal, streams, visit: cookies } = request
  const agent = await agentOf(deps, request)
  // A request that still connects ignores the signal; the end of its agent ends it too.
  const destroy = (): void => void agent.destroy()
  const leave = (): void => {
    signal.removeEventListener('abort', destroy)
    // No connection is kept for a later request: its address has to be checked anew.
    destroy()
  }
  const inWords = (error: unknown): ParleyError =>
    error instanceof ParleyError ? error : doorError(error, { host: url.host, configured: request.configured === true })
  signal.addEventListener('abort', destroy, { once: true })
  let streamed = false
  try {
    signal.throwIfAborted()
    const answer = await agent.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method, signal },
      headers: {
        ...{ 'user-agent': 'Parley', accept: ACCEPTED, 'accept-encoding': ENCODINGS },
        ...(cookies && cookies.size > 0 ? { cookie: cookieHeader(cookies) } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    if (cookies) keepCookies(cookies, answer.headers['set-cookie'])
    streamed = streams === true && isEvents(answer)
    if (streamed) return streamOf(url, answer, { leave, inWords })
    return await read(url, answer, {
      ...{ follow: request.follow, most: deps.most ?? MOST_BYTES, torn: cookies !== undefined },
    })
  } catch (error) {
    throw inWords(error)
  } finally {
    if (!streamed) leave()
  }
}

function isEvents({ statusCode, headers }: Dispatcher.ResponseData): boolean {
  return statusCode === 200 && /^\s*text\/event-stream\b/i.test(singleHeaders(headers)['content-type'] ?? '')
}

interface Streaming {
  leave(this: void): void
  inWords(this: void, error: unknown): ParleyError
}

function streamOf(
  url: URL,
  { statusCode: status, body, ...rest }: Dispatcher.ResponseData,
  { leave, inWords }: Streaming,
): DoorStream {
  const headers = singleHeaders(rest.headers)
  body.on('error', () => undefined)
  const bytes = decoded(body, headers['content-encoding'])
  async function* chunks() {
    try {
      yield* bytes as AsyncIterable<Buffer>
    } catch (error) {
      throw inWords(decodingError(error, url, headers['content-encoding']))
    }
  }
  const events = Readable.from(chunks(), { objectMode: false })
  // Also where nobody has read any of it.
  events.once('close', () => {
    body.destroy()
    bytes.destroy()
    leave()
  })
  return { kind: 'stream', url, status, headers, body: events }
}

interface Reading {
  readonly follow: boolean | undefined
  readonly most: number
  /** A body that breaks off is its beginning, not an error. */
  readonly torn: boolean
}

async function read(
  url: URL,
  { statusCode: status, body, ...rest }: Dispatcher.ResponseData,
  { follow, most, torn }: Reading,
) {
  const headers = singleHeaders(rest.headers)
  if (REDIRECTS.has(status) && headers.location !== undefined) {
    body.on('error', () => undefined).destroy()
    return { kind: 'redirect', url, status, to: readTarget(headers.location, url, follow) } as const
  }
  const encoding = headers['content-encoding']
  const read = await readBody(body, encoding, { most, torn }).catch((error: unknown) => {
    throw decodingError(error, url, encoding)
  })
  return { kind: 'answer', url, status, headers, ...read } as const
}

/** An agent of its own for one request: no cookies, nothing of an earlier one. */
async function agentOf(deps: DoorDeps, { configured, streams }: Asking): Promise<Agent> {
  // The bundle has no names but this one of a package that is loaded late.
  const { Agent, buildConnector } = (await import('undici')).default
  const timeout = deps.withinMs ?? WITHIN_MS
  const direct = buildConnector({ timeout, allowH2: false, ...(configured ? {} : { lookup: checkedLookup(deps) }) })
  const asked = (host: string): Promise<string> => checkedAddress(deps, host)
  const connect = throughProxy(direct, configured ? {} : { asked })
  return new Agent({
    // A stream of events may be silent for as long as somebody is asked something.
    ...{ connections: 1, pipelining: 0, headersTimeout: timeout, bodyTimeout: streams ? 0 : timeout },
    connect(options, callback) {
      const host = hostOf(options)
      // An address is not looked up, so that it is checked here.
      if (!configured && isIP(host) !== 0 && !isElsewhere(host, deps)) callback(notPublic({ host }), null)
      else connect(options, callback)
    },
  })
}

/** Returns the very address that was checked here for a name: what a proxy makes of the name nobody can check. */
async function checkedAddress(deps: DoorDeps, host: string): Promise<string> {
  if (isIP(host) !== 0) return host
  const [first] = await checkedAddresses(deps, host).catch((error: unknown) => {
    if (error instanceof ParleyError) throw error
    throw new ParleyError(
      'unavailable',
      `${host} cannot be looked up on this machine, which is needed behind a proxy too.`,
    )
  })
  if (first === undefined) throw new ParleyError('unavailable', `There is no host ${host}.`)
  return first.address
}

/** Returns the lookup of the connection itself: an answer that changes from one lookup to the next cannot pass. */
function checkedLookup(deps: DoorDeps): LookupFunction {
  return (host, options, callback) => {
    checkedAddresses(deps, host).then(
      (all) => {
        const [first] = all
        if (first === undefined) callback(Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' }), [])
        else if (options.all) callback(null, all)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(toError(error), []),
    )
  }
}

/** Returns the addresses of a name. Throws `forbidden` where one of them is not on the public net. */
async function checkedAddresses(deps: DoorDeps, host: string): Promise<LookupAddress[]> {
  const { resolve = allAddresses, landing = (address) => address } = deps
  const addresses = await resolve(host)
  if (!addresses.every((address) => isElsewhere(address, deps))) throw notPublic({ host })
  return addresses.map(landing).map((address) => ({ address, family: isIP(address) }))
}

/** Returns true for an address of the public net that is none of this machine's own: those may change at any time. */
function isElsewhere(address: string, { own = ownAddresses }: Pick<DoorDeps, 'own'>): boolean {
  return isPublicAddress(address) && !isAmong(address, own())
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}

async function allAddresses(host: string): Promise<readonly string[]> {
  return (await dns.lookup(host, { all: true })).map(({ address }) => address)
}

/** Throws `forbidden` for a target to follow that is not on the public net, without looking up its name. */
export function readTarget(location: string, url: URL, follow: boolean | undefined): URL {
  const to = parseUrl(location, url.href)
  if (to === undefined) throw new ParleyError('unavailable', `${url.host} redirects to what is no address.`)
  // Nothing is asked there but by a request of its own, whose address is looked at then.
  if (follow === false) return to
  try {
    return readPublicUrl(to.href)
  } catch (error) {
    throw new ParleyError(
      'forbidden',
      `${url.host} redirects elsewhere, and that is refused: ${toError(error).message}`,
    )
  }
}

/** Returns true for a redirect within a site: the same host, with or without `www.`, or the same by TLS. */
export function isSameSite(from: URL, to: URL): boolean {
  const sameHost = from.hostname.replace(/^www\./, '') === to.hostname.replace(/^www\./, '')
  const samePlace = from.protocol === to.protocol && from.port === to.port
  const toTls = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  return sameHost && (samePlace || toTls)
}

/** Headers of which a second one counts too. */
const JOINED: ReadonlySet<string> = new Set(['www-authenticate', 'content-type'])

function singleHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  const one = (name: string, value: string | string[] | undefined): string | undefined =>
    Array.isArray(value) ? (JOINED.has(name) ? value.join(', ') : value[0]) : value
  const values = Object.entries(headers).map(([name, value]) => [name, one(name, value)])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

const MOST_COOKIES = 50
const LONGEST_COOKIE = 4_096
/** Servers refuse a request whose headers have more than 8 KB. */
const MOST_OF_COOKIES = 6_000
const COOKIE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x20-\x3a\x3c-\x7e]*?)\s*(?:;|$)/
const ENDED = /;\s*max-age\s*=\s*-?0*\s*(?:;|$)|;\s*max-age\s*=\s*-|;\s*expires\s*=[^;]*\b(?:19[67]\d)\b/i

/** Takes the cookies of an answer. Their paths are not looked at: all is over with the visit. */
function keepCookies(cookies: Visit, header: string | string[] | undefined): void {
  for (const words of [header ?? []].flat().slice(0, MOST_COOKIES)) {
    const [, name, value = ''] = words.length > LONGEST_COOKIE ? [] : (COOKIE.exec(words) ?? [])
    if (name === undefined) continue
    if (ENDED.test(words)) cookies.delete(name)
    else if (cookies.has(name) || cookies.size < MOST_COOKIES) cookies.set(name, value)
  }
}

function cookieHeader(cookies: Visit): string {
  let header = ''
  for (const [name, value] of cookies) {
    const longer = `${header}${header === '' ? '' : '; '}${name}=${value}`
    if (longer.length <= MOST_OF_COOKIES) header = longer
  }
  return header
}

/** `cut`: there was more of it than the limit; `torn`: it broke off there. */
interface Body {
  readonly bytes: Buffer
  readonly cut: boolean
  readonly torn?: true
}

/** Node has this one since version 22.15. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform }

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  br: zlib.createBrotliDecompress,
  ...(createZstdDecompress ? { zstd: createZstdDecompress } : {}),
}

/** The codes of a body that its decoder refuses. */
const NOT_IN_ENCODING = /^(Z_|ERR__|ERR_BROTLI|ERR_PADDING|ZSTD_)/

/** Returns the error of a body in words that name its encoding, where the decoder refused it; else as it is. */
function decodingError(thrown: unknown, { host }: URL, encoding = ''): unknown {
  const cause = toError(thrown)
  if (!NOT_IN_ENCODING.test(codeOf(cause))) return thrown
  const words = `What ${host} sent is not in the encoding it names, ${encoding.trim().slice(0, LONGEST_ENCODING)}.`
  return new ParleyError('unavailable', words, { cause })
}

const LONGEST_ENCODING = 40

/** The encodings a server may answer in. */
const ENCODINGS = `gzip, deflate, br${createZstdDecompress ? ', zstd' : ''}`

/** Words that some servers name for an encoding, which say that there is none. */
const NOT_ENCODED: ReadonlySet<string> = new Set([
  ...['', 'identity', 'none', 'utf-8', 'utf8', 'binary', '8bit', '7bit', 'text', 'iso-8859-1'],
])

/**
 * Reads a body until `most` decoded bytes; the rest stays with the server. Throws `invalid` for an encoding nobody
 * asked for; rejects with the error of the stream when the body ends early or is no such encoding, unless something of
 * it has come and `torn` allows that.
 */
async function readBody(
  raw: Readable,
  encoding: string | undefined,
  { most, torn }: Pick<Reading, 'most' | 'torn'>,
): Promise<Body> {
  // A body that is left before its end says so as an error.
  raw.on('error', () => undefined)
  const stream = decoded(raw, encoding)
  const bytes = new Bytes(most)
  try {
    for await (const piece of stream) if (!bytes.add(piece)) return { bytes: bytes.whole(), cut: true }
    return { bytes: bytes.whole(), cut: false }
  } catch (error) {
    if (!torn || bytes.length === 0) throw error
    return { bytes: bytes.whole(), cut: true, torn: true }
  } finally {
    raw.destroy()
    stream.destroy()
  }
}

/**
 * Returns the decoded bytes of a body; an error of it destroys the result too. Throws `invalid` for an encoding nobody
 * asked for.
 */
function decoded(raw: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (NOT_ENCODED.has(name)) return raw
  if (name === 'deflate') return Readable.from(inflated(raw), { objectMode: false })
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.() : undefined
  if (decoder === undefined) {
    raw.destroy()
    throw new ParleyError('invalid', `The server answered in an encoding nobody asked for: ${name.slice(0, 40)}.`)
  }
  // An error of the one ends the other, and the reader sees it.
  return pipeline(raw, decoder, () => undefined)
}

/** The lower half of the first byte of a body whose bytes have the header of zlib; some servers leave it out. */
const ZLIB = 0x08

/** Yields the bytes of a body in the encoding `deflate`, with its header or without, as browsers read it. */
async function* inflated(raw: Readable): AsyncGenerator<Buffer, void, void> {
  const source: AsyncIterator<Buffer> = raw[Symbol.asyncIterator]()
  const { done, value: first } = await source.next()
  if (done) return
  async function* all(): AsyncGenerator<Buffer, void, void> {
    yield first
    yield* { [Symbol.asyncIterator]: () => source }
  }
  const decoder = (first[0] ?? 0) % 16 === ZLIB ? zlib.createInflate() : zlib.createInflateRaw()
  yield* pipeline(all(), decoder, () => undefined)
}

/** Returns what went wrong at the net in words: for the model, and for the operator, whose own word `configured` is. */
export function doorError(thrown: unknown, { host, configured }: { host: string; configured: boolean }): ParleyError {
  const error = toError(thrown)
  // The proxy is this machine's: a model is not shown where it stands.
  if (error instanceof ProxyFailed)
    return new ParleyError(
      'unavailable',
      configured ? `${host}: ${error.message}.` : `${host} cannot be reached through the proxy of this machine.`,
      { cause: error },
    )
  const code = codeOf(error)
  const words = certificateSentence(code, host, configured) ?? sentence(code, host)
  return new ParleyError('unavailable', words, { cause: error })
}

const NOT_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/

/** Returns why TLS did not come about; where the address is configured, with the remedy. */
function certificateSentence(code: string, host: string, configured: boolean): string | undefined {
  const saying = (what: string, remedy: string): string => `${what}${configured ? `: ${remedy}` : ''}.`
  if (code === 'CERT_HAS_EXPIRED') return saying(`The certificate of ${host} has expired`, 'it has to be renewed there')
  if (code === 'CERT_NOT_YET_VALID')
    return saying(`The certificate of ${host} is not valid yet`, 'look at the clocks of both machines')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return saying(`The certificate of ${host} is for another name`, 'use that name in its address')
  if (UNKNOWN_ISSUER.test(code))
    return saying(`The certificate of ${host} is signed by nobody who is trusted here`, OWN_ISSUER)
  if (NOT_TLS.test(code)) return saying(`${host} does not speak TLS`, 'its address may have to begin with http://')
  return undefined
}

function sentence(code: string, host: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return `There is no host ${host}.`
  if (code === 'EAI_AGAIN') return `The name ${host} cannot be looked up at the moment.`
  if (code === 'ECONNREFUSED') return `${host} refuses the connection.`
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return `${host} cannot be reached.`
  if (/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/.test(code)) return `${host} does not answer.`
  if (/CERT|SIGNATURE|^(EPROTO|ERR_TLS|ERR_SSL)/.test(code)) return `${host} has no connection that can be trusted.`
  if (/^(HPE_|HTTPParserError|UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE))/.test(code))
    return `${host} does not answer as a web server does.`
  if (/^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|ABORTED|CLOSED|DESTROYED)|ERR_STREAM)/.test(code))
    return `The connection to ${host} broke off before its answer was whole.`
  return `${host} cannot be read: ${code}.`
}

const NO_WAY =
  /^(ENOTFOUND|ENODATA|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/

/** Returns true for an error of the door from before anything of the request has come to its host. */
export function cameNowhere({ cause }: Error): boolean {
  const code = cause instanceof Error ? codeOf(cause) : ''
  return NO_WAY.test(code) || UNKNOWN_ISSUER.test(code) || /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$)/.test(code)
}

/** Returns true for an error of a request without TLS to a server that may answer by TLS alone. */
export function mayBeTls({ cause }: Error): boolean {
  const code = cause instanceof Error ? codeOf(cause) : ''
  return /^(?:ECONNREFUSED|ECONNRESET|HPE_\w+|HTTPParserError|UND_ERR_SOCKET)$/.test(code)
}

function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (typeof code === 'string') return code
  return cause instanceof Error ? codeOf(cause) : error.name
}
