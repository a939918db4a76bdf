import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { backOffMs } from '../core/backoff.ts'
import { askedWait, type Clock, sleep, within } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { McpAddress } from '../core/mcp.ts'
import { parseUrl } from '../core/parse-url.ts'
import { pieces, readBytes, readFirstBytes, tooManyBytes } from '../core/read-bytes.ts'
import { isRecord } from '../core/schema-node.ts'
import {
  bodyWords,
  LIST_CHANGED,
  readMessage,
  type SentMessage,
  shortWords,
  strictAnswer,
  strictRequest,
  tornAnswer,
  unreadError,
  unreadKind,
} from './lenient.ts'
import { ReadingPace } from './pace.ts'

export interface AddressDeps {
  readonly clock: Clock
  readonly fetch: typeof globalThis.fetch
  /** The server may ask something outside of a call, so that a stream for that is kept open. */
  readonly listens: boolean
  /** Called when the server sends more than it is asked for and is read slowly from then on. */
  slowed(): void
  /** Called when the server says that its tools are others now. */
  changed(): void
}

/** The server refused a message with a status of HTTP. */
export class Refused extends Error {
  readonly status: number
  /** It does not know the session of this connection any more: another one has to be begun. */
  readonly sessionGone: boolean

  constructor(status: number, words: string, sessionGone = false) {
    super(words)
    this.status = status
    this.sessionGone = sessionGone
  }
}

/** Characters of one event; a longer one ends its stream. */
const MOST_OF_AN_EVENT = DOORS.toolServer.bytes
/** Bytes a second of what answers nothing, and as many at once. */
const UNASKED = 256_000
/** The words of servers that say 400 for a session that they have forgotten; they have done nothing then. */
const NO_SESSION =
  /\b(no|not find|invalid|unknown|unrecognized|missing|expired|bad)\b.{0,40}\bsession|\bsession(id)?\b.{0,60}\b(not found|not valid|invalid|unknown|missing|expired|closed|terminated|does not exist|required)|\bnot initialized/i
/** An id that a header can carry. */
const SENDABLE = /^[\x20-\x7e]{1,4096}$/
const ENDED = 'it ended its stream before it answered'
/** The time for the address that a server of the form of 2024-11-05 names first. */
const ENDPOINT_MS = 3_000
/** Requests of the server whose answers it has not taken: what it asks beyond is left out. */
const MOST_ASKED = 10
/** The time for the delivery of an answer to one. */
const DELIVERY_MS = 10_000
/** Bytes that a line costs at least, so that short ones are not the cheapest way to keep a process busy. */
const A_LINE = 500
/** A stream that was open for so long has worked, also where nothing came. */
const LIVED_MS = 1_000
/** Bytes that are read at once: the parser's work grows faster than a piece. */
const PIECE = 4_096
/** The shortest wait before a stream is resumed, and that without a word of the server, which grows with failures. */
const SOONEST_MS = 250
const RESUME = { firstMs: 1_000, longestMs: 30_000 }
/** Tries to resume an answer, one behind the other, of which each failed. */
const MOST_FAILURES = 5
/** The longest that a call waits for the stream for questions. */
const LISTENS_MS = 1_000
/** Waits before the stream for questions is opened again. */
const LISTEN = { firstMs: 1_000, longestMs: 300_000 }
const LONGEST_WORDS = 300
/** Bytes of a refusal that are read. */
const MOST_OF_A_REFUSAL = 256_000
/** The statuses by which servers of the form of 2024-11-05 refuse a message at the address of their stream. */
const NO_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 501])
/** The time for the word that a session is over. */
const GOODBYE_MS = 2_000

/** Called with the name and the data of an event. */
type OnNamed = (event: string, data: string) => void

/** A request without its answer. */
interface Exchange {
  readonly id: RequestId
  readonly isCall: boolean
  readonly params: unknown
  /** Aborted with the answer, and where none is wanted any more. */
  readonly over: AbortController
  answered: boolean
}

/** The most that has come in a stream. */
type Heard = 'nothing' | 'place' | 'message'

interface Reading {
  readonly exchange?: Exchange
  readonly named?: OnNamed
}

/** The place up to which a stream has been read. */
interface Place {
  lastEventId?: string
  retryMs?: number
}

/**
 * The way to a server by streamable HTTP. Each request and its answer are one exchange: `send` resolves when the answer
 * has come, also where the stream stays open behind it, and rejects when none can come any more. A stream that ends
 * before its answer is resumed by the id of its last event. Notifications, which nobody listens to, are left out. A
 * server of the form before (2024-11-05), where all answers come in one stream, is known by its refusal of the first
 * message.
 */
export class AddressTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #at: McpAddress
  readonly #deps: AddressDeps
  readonly #closed = new AbortController()
  readonly #open = new Map<string, Exchange>()
  /** The params of the call in whose stream a request of the server came, by the id of the request. */
  readonly #asking = new Map<RequestId, unknown>()
  #givenUp = 0
  /** The address that messages are sent to. */
  #url: string
  /** All answers come in one stream, by the form of 2024-11-05. */
  #oneStream = false
  /** Resolves when the stream beside the calls is open, or is not offered. */
  #listened: Promise<unknown> = Promise.resolve()
  /** Resolves when that stream is over for good. */
  #listener: Promise<void> | undefined
  #session: string | undefined
  #version: string | undefined

  constructor(at: McpAddress, deps: AddressDeps) {
    this.#at = at
    this.#deps = deps
    this.#url = at.url
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version
  }

  /** Calls of tools without an answer: nobody learns when the server has ended one that was given up. */
  get unansweredCalls(): number {
    return [...this.#open.values()].filter(({ isCall }) => isCall).length + this.#givenUp
  }

  /** Returns the params of the call that a request of the server is about; undefined where that is not known. */
  callBehind(request: RequestId): unknown {
    return this.#asking.get(request)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed.signal.aborted) throw new Error('the connection is closed')
    if ('method' in message && 'id' in message) return this.#exchange(message)
    this.#note(message)
    await this.#deliver(message)
    const isReady = 'method' in message && message.method === 'notifications/initialized'
    if (isReady && this.#deps.listens && !this.#oneStream) void this.#listening()
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return
    const { fetch, clock } = this.#deps
    this.#closed.abort()
    if (this.#session !== undefined && !this.#oneStream) {
      const over = new AbortController()
      const bye = fetch(this.#url, { method: 'DELETE', headers: this.#headers(), signal: over.signal })
      await within(clock, GOODBYE_MS, bye).catch(() => undefined)
      over.abort()
    }
    this.onclose?.()
  }

  /** Sends a notification, or an answer to what the server has asked. Nothing waits for it: some servers refuse each. */
  async #deliver(message: JSONRPCMessage): Promise<void> {
    const over = new AbortController()
    const cancel = this.#deps.clock.after(DELIVERY_MS, () => over.abort())
    try {
      await (await this.#post(message, AbortSignal.any([over.signal, this.#closed.signal]))).body?.cancel()
    } catch (error) {
      if (!(error instanceof Refused) && !over.signal.aborted) throw error
      this.onerror?.(toError(error))
    } finally {
      cancel()
      if (!('method' in message) && message.id !== undefined) this.#asking.delete(message.id)
    }
  }

  /** Notes a call that is given up. */
  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if (message.method !== 'notifications/cancelled') return
    const exchange = this.#open.get(String(message.params?.requestId))
    if (exchange === undefined) return
    if (exchange.isCall) this.#givenUp++
    exchange.over.abort()
  }

  async #exchange(message: JSONRPCRequest): Promise<void> {
    const { id, method, params } = message
    const begun = { over: new AbortController(), answered: false }
    const exchange: Exchange = { ...{ id, params, isCall: method === 'tools/call' }, ...begun }
    this.#open.set(String(id), exchange)
    try {
      // A question that comes before its stream is open is lost.
      if (exchange.isCall) await this.#listened
      exchange.over.signal.throwIfAborted()
      const response = await this.#first(message, exchange)
      this.#session ??= response.headers.get('mcp-session-id') ?? undefined
      if (isEvents(response)) await this.#readAnswer(response, exchange)
      else await this.#readWhole(response, exchange)
    } catch (error) {
      throw errorCode(error) === 'too_long' ? new Error(unreadError(error).message) : error
    } finally {
      this.#open.delete(String(id))
      exchange.over.abort()
    }
  }

  /** Sends a request. Where the first of all is refused, the server is tried by the form of 2024-11-05. */
  async #first(message: JSONRPCMessage, exchange: Exchange): Promise<Response> {
    try {
      return await this.#post(message, this.#until(exchange))
    } catch (error) {
      const isInitialize = 'method' in message && message.method === 'initialize' && !this.#oneStream
      if (!isInitialize || !(error instanceof Refused) || !NO_STREAMABLE.has(error.status)) throw error
      if (!(await this.#openOneStream(this.#until(exchange)).catch(() => false))) throw error
      return this.#post(message, this.#until(exchange))
    }
  }

  #until({ over }: Exchange): AbortSignal {
    return AbortSignal.any([over.signal, this.#closed.signal])
  }

  async #post(message: JSONRPCMessage, signal: AbortSignal): Promise<Response> {
    const headers = this.#headers()
    headers.set('content-type', 'application/json')
    headers.set('accept', 'application/json, text/event-stream')
    const response = await this.#deps.fetch(this.#url, {
      ...{ method: 'POST', headers, signal },
      body: JSON.stringify(message),
    })
    if (response.ok) return response
    throw await this.#refusal(response)
  }

  /** Also servers that say 400 for a session that they have forgotten. */
  async #refusal(response: Response): Promise<Error> {
    const { status } = response
    const begun = await readFirstBytes(response.body ?? none(), MOST_OF_A_REFUSAL).catch(() => undefined)
    const said = bodyWords(begun?.bytes ?? Buffer.alloc(0))
    const words = `it answers ${status}${said === '' ? '' : `: ${oneLine(said)}`}`
    const isForgotten = status === 404 || (status === 400 && NO_SESSION.test(said))
    return new Refused(status, words, this.#session !== undefined && isForgotten)
  }

  #headers(): Headers {
    const headers = new Headers()
    if (this.#session !== undefined) headers.set('mcp-session-id', this.#session)
    if (this.#version !== undefined) headers.set('mcp-protocol-version', this.#version)
    for (const [name, value] of Object.entries(this.#at.headers)) headers.set(name, value)
    return headers
  }

  /** Takes an answer that came as a whole; one that is accepted first comes in the stream beside. */
  async #readWhole(response: Response, exchange: Exchange): Promise<void> {
    const bytes = await readBytes(response.body ?? none(), DOORS.toolServer.bytes)
    const found = readMessage(bytes)
    // A single answer is the answer, whatever its id.
    if (isRecord(found)) this.#take('method' in found ? found : { ...found, id: exchange.id }, exchange)
    else for (const message of Array.isArray(found) ? found : []) this.#take(message, exchange)
    if (!exchange.answered) await this.#answeredBeside(response, exchange)
    if (exchange.answered || exchange.over.signal.aborted) return
    if (this.#closed.signal.aborted) throw new Error('the connection has ended')
    throw strange(response, bytes)
  }

  /** Resolves when an answer has come in another stream, or none can come there. */
  async #answeredBeside({ status }: Response, exchange: Exchange): Promise<void> {
    const isOver = aborted(this.#until(exchange))
    if (this.#oneStream) await isOver
    else if (status === 202) await Promise.race([isOver, this.#listening()])
  }

  async #readAnswer(first: Response, exchange: Exchange): Promise<void> {
    const signal = this.#until(exchange)
    const place: Place = {}
    let response: Response | undefined = first
    for (let failures = 0; ; ) {
      const heard = await this.#readBroken(response, place, exchange)
      if (exchange.answered) return
      failures = heard === 'nothing' ? failures + 1 : 0
      if (place.lastEventId === undefined || failures >= MOST_FAILURES) throw new Error(ENDED)
      await sleep(this.#deps.clock, waitOf(place, failures, RESUME), signal)
      signal.throwIfAborted()
      response = await this.#resume(place, signal)
    }
  }

  /** Reads a stream that may break off where it can be resumed. */
  async #readBroken(response: Response | undefined, place: Place, exchange: Exchange): Promise<Heard> {
    const { clock } = this.#deps
    const opened = clock.elapsed()
    try {
      return response === undefined ? 'nothing' : await this.#readStream(response, place, { exchange })
    } catch (error) {
      const isFinal = this.#until(exchange).aborted || errorCode(error) === 'too_long'
      if (isFinal || place.lastEventId === undefined) throw error
      return clock.elapsed() - opened >= LIVED_MS ? 'message' : 'nothing'
    }
  }

  /** Returns a stream behind the last event, undefined where that failed for now. */
  async #resume(place: Place, signal: AbortSignal): Promise<Response | undefined> {
    const response = await this.#get(place, signal).catch((error: unknown) => {
      if (signal.aborted || errorCode(error) === 'unauthorized') throw error
      return undefined
    })
    if (response === undefined || isEvents(response)) return response
    await response.body?.cancel()
    if (!isPassing(response)) throw new Refused(response.status, `${ENDED}, and refuses to resume it`)
    return undefined
  }

  #get({ lastEventId }: Partial<Place>, signal: AbortSignal): Promise<Response> {
    const headers = this.#headers()
    headers.set('accept', 'text/event-stream')
    if (lastEventId !== undefined) headers.set('last-event-id', lastEventId)
    return this.#deps.fetch(this.#at.url, { method: 'GET', headers, signal })
  }

  /**
   * Reads a stream until its end, or until its exchange is answered; what answers nothing is read at a pace. Returns
   * what has come: a message, at least an id, or nothing, as from a stream that ends at once.
   */
  async #readStream({ body }: Response, place: Place, reading: Reading = {}): Promise<Heard> {
    const { exchange } = reading
    if (body === null) return 'nothing'
    let heard: Heard = 'nothing'
    let unasked = 0
    /** Bytes since the last event. */
    let since = 0
    let tooLong = false
    let isOver = false
    const parser = createParser({
      maxBufferSize: MOST_OF_AN_EVENT,
      onEvent: (event) => {
        since = 0
        const taken = this.#takeEvent(event, place, { ...reading, isOver })
        unasked += taken.cost
        if (heard === 'nothing' || taken.heard === 'message') heard = taken.heard
      },
      onRetry: (ms) => {
        place.retryMs = ms
      },
      onError: ({ type }) => {
        tooLong ||= type === 'max-buffer-size-exceeded'
      },
    })
    // A parser that has given up an event takes no more.
    const feed = (text: string): void => (tooLong ? undefined : parser.feed(text))
    const { clock, slowed } = this.#deps
    const pace = new ReadingPace({ clock, slowed, rate: UNASKED, signal: this.#closed.signal })
    const decoder = new TextDecoder()
    const reader = body.getReader()
    const opened = clock.elapsed()
    const all = (): Heard => (heard === 'nothing' && clock.elapsed() - opened >= LIVED_MS ? 'message' : heard)
    try {
      for (;;) {
        const { done, value = NOTHING } = await reader.read()
        since += value.length
        for (const piece of pieces(value, PIECE)) feed(decoder.decode(piece, { stream: true }))
        isOver = done
        if (done) feed(`${decoder.decode()}\n\n`)
        if (tooLong || since > MOST_OF_AN_EVENT) throw tooManyBytes(MOST_OF_AN_EVENT)
        if (done || exchange?.answered) return all()
        // A long line is mostly that of an answer, and its length is bounded.
        await pace.spend(unasked + Math.min(value.length, linesIn(value) * A_LINE))
        unasked = 0
      }
    } finally {
      await reader.cancel().catch(() => undefined)
    }
  }

  /** Takes one event. Returns what it was, and the bytes that it costs. */
  #takeEvent(
    { id, data, event }: EventSourceMessage,
    place: Place,
    { exchange, named, isOver }: Reading & { readonly isOver: boolean },
  ): { readonly heard: Heard; readonly cost: number } {
    const isSaid = data.trim() !== ''
    const message = isSaid ? (this.#messageIn(data, exchange) ?? (isOver ? undefined : this.#torn(data, exchange))) : {}
    // An event that is torn at the end of its stream has to come again.
    if (message === undefined && named === undefined) return { heard: 'nothing', cost: data.length }
    if (id !== undefined) notePlace(place, id)
    const heard = isSaid ? 'message' : id === undefined ? 'nothing' : 'place'
    if (exchange?.answered) return { heard, cost: 0 }
    if (event !== undefined) named?.(event, data)
    return { heard, cost: this.#take(message, exchange) === 'answer' ? -3 * A_LINE : data.length }
  }

  /**
   * Returns the message of an event; undefined for a torn one. One that is too long to be read is the error of its
   * request where it is an answer: of that with its id, else of the request of this stream, else of the oldest.
   */
  #messageIn(data: string, exchange: Exchange | undefined): unknown {
    try {
      return readMessage(data)
    } catch (error) {
      this.onerror?.(toError(error))
      const unread = unreadKind(data)
      if (unread.kind === 'other') return {}
      const { id = exchange?.id ?? [...this.#open.values()][0]?.id } = unread
      return { id, error: unreadError(error) }
    }
  }

  /** Returns the error that stands for an answer which is no JSON. */
  #torn(data: string, exchange: Exchange | undefined): unknown {
    const torn = tornAnswer(data)
    const [only] = this.#open.size === 1 ? this.#open.values() : []
    return torn && { id: torn.id ?? (exchange ?? only)?.id, error: torn.error }
  }

  /** Hands on an answer and a request, and nothing else. */
  #take(message: unknown, exchange: Exchange | undefined): 'answer' | 'request' | undefined {
    if (!isRecord(message)) return undefined
    const { id, method } = message
    if (typeof method === 'string') return this.#takeRequest({ ...message, id, method }, exchange)
    if (!('result' in message) && !('error' in message)) return undefined
    // Some servers write the id as a text, or leave it out of an error.
    const isNameless = id === undefined || id === null
    const meant = isNameless ? exchange : this.#open.get(typeof id === 'object' ? '' : String(id))
    if (meant === undefined || meant.answered) return undefined
    meant.answered = true
    meant.over.abort()
    this.onmessage?.(strictAnswer(meant.id, message))
    return 'answer'
  }

  #takeRequest(message: SentMessage, exchange: Exchange | undefined): 'request' | undefined {
    const { id, method } = message
    if (method === LIST_CHANGED) this.#deps.changed()
    if (typeof id !== 'string' && typeof id !== 'number') return undefined
    if (this.#asking.has(id) || this.#asking.size >= MOST_ASKED) return undefined
    this.#asking.set(id, exchange?.params)
    this.onmessage?.(strictRequest(message))
    return 'request'
  }

  /**
   * Opens the one stream of the form of 2024-11-05. Returns false if the server offers none. The end of the stream is
   * that of the connection.
   */
  async #openOneStream(signal: AbortSignal): Promise<boolean> {
    const response = await this.#get({}, this.#closed.signal)
    if (!isEvents(response)) {
      await response.body?.cancel()
      return false
    }
    return new Promise((resolve) => {
      const named: OnNamed = (event, data) => {
        const url = parseUrl(data.trim(), this.#at.url)
        // Whatever is sent there has the headers of the configuration.
        if (event !== 'endpoint' || url?.origin !== new URL(this.#at.url).origin) return
        this.#url = url.href
        this.#oneStream = true
        resolve(true)
      }
      signal.addEventListener('abort', () => resolve(false), { once: true })
      void sleep(this.#deps.clock, ENDPOINT_MS, signal).then(() => resolve(false))
      this.#readStream(response, {}, { named })
        .catch((error: unknown) => this.onerror?.(toError(error)))
        .finally(() => {
          resolve(false)
          if (this.#oneStream) void this.close()
        })
    })
  }

  /** Opens the stream beside the calls, once, and returns its end. */
  #listening(): Promise<void> {
    if (this.#listener !== undefined) return this.#listener
    const first = new AbortController()
    this.#listened = within(this.#deps.clock, LISTENS_MS, aborted(first.signal))
    this.#listener = this.#listen(() => first.abort())
    return this.#listener
  }

  /** Keeps a stream open for what the server sends beside the answers of its calls, as long as it offers one. */
  async #listen(opened: () => void): Promise<void> {
    const { signal } = this.#closed
    const place: Place = {}
    for (let failures = 0; !signal.aborted; ) {
      const heard = await this.#listenOnce(place, opened)
      opened()
      if (heard === 'refused') return
      failures = heard === 'message' ? 0 : failures + 1
      await sleep(this.#deps.clock, waitOf(place, failures, LISTEN), signal)
    }
  }

  async #listenOnce(place: Place, opened: () => void): Promise<Heard | 'refused'> {
    const { signal } = this.#closed
    try {
      const response = await this.#get(place, signal)
      if (isEvents(response)) {
        opened()
        return await this.#readStream(response, place)
      }
      await response.body?.cancel()
      return isPassing(response) ? 'nothing' : 'refused'
    } catch (error) {
      if (!signal.aborted) this.onerror?.(toError(error))
      // A login that is wanted is said by the calls.
      return errorCode(error) === 'unavailable' || !(error instanceof ParleyError) ? 'nothing' : 'refused'
    }
  }
}

const NOTHING = new Uint8Array()

/** Yields the bytes of an answer without a body. */
async function* none(): AsyncGenerator<Uint8Array, void, void> {}

/** Returns the wait before a stream is opened again: that of the server, but no busy loop, and longer with failures. */
function waitOf({ retryMs }: Place, failures: number, pace: typeof RESUME): number {
  const own = failures > 0 || retryMs === undefined ? backOffMs(failures, pace) : SOONEST_MS
  return askedWait(Math.max(own, retryMs ?? 0))
}

/** Returns true for a refusal that may pass: a stream may still be open there that has broken off here. */
function isPassing({ status }: Response): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429
}

/** An empty id takes the place away, as the standard has it; one that no header can carry is left out. */
function notePlace(place: Place, id: string): void {
  if (id === '') delete place.lastEventId
  else if (SENDABLE.test(id)) place.lastEventId = id
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}

function isEvents(response: Response): boolean {
  return response.ok && mediaType(response) === 'text/event-stream'
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function mediaType({ headers }: Response): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Returns the words about an answer that is none of the protocol. */
function strange(response: Response, bytes: Buffer): Error {
  const words = bodyWords(bytes.subarray(0, MOST_OF_A_REFUSAL))
  const shown = words === '' ? 'nothing' : `${mediaType(response) || 'no type'}: ${oneLine(words)}`
  return new Error(`it answers ${response.status} without the protocol, with ${shown}`)
}

function oneLine(words: string): string {
  return shortWords(words.replace(/\s+/g, ' '), LONGEST_WORDS)
}
