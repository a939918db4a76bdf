import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { readJson } from '../core/read-json.ts'
import { isRecord } from '../core/schema-node.ts'

/** A message as it was sent; nothing but its being an object is known. */
export type SentMessage = Readonly<Record<string, unknown>>

/** The notification of a server that its tools are others now. */
export const LIST_CHANGED = 'notifications/tools/list_changed'
/**
 * Returns the value of a message; undefined for what is no JSON. `NaN` and `Infinity`, which Python writes, are read as
 * null, and bytes that are no UTF-8 as U+FFFD. Throws `too_long` for one beyond the bounds of a tool server.
 */
export function readMessage(source: Uint8Array | string): unknown {
  try {
    return readJson(source, DOORS.toolServer)
  } catch (error) {
    if (errorCode(error) === 'too_long') throw error
  }
  const isText = typeof source === 'string'
  const text = isText ? source : Buffer.from(source).toString('utf8')
  const mended = mendedJson(text)
  // A message of 20 MB takes a twentieth of a second each time that it is read.
  if (mended === text && (isText || isUtf8(source))) return undefined
  try {
    return readJson(mended, DOORS.toolServer)
  } catch (error) {
    if (errorCode(error) === 'too_long') throw error
    return undefined
  }
}

/** Returns a text of JSON without the mark of the byte order, and with null for the numbers that JSON has not. */
function mendedJson(given: string): string {
  const text = given.replace(/^\uFEFF/, '')
  if (!/NaN|Infinity/.test(text)) return text
  let mended = ''
  for (let at = 0; ; ) {
    const quote = text.indexOf('"', at)
    mended += text.slice(at, quote === -1 ? text.length : quote).replace(/-?(?:NaN|Infinity)/g, 'null')
    if (quote === -1) return mended
    at = quote + 1
    for (let code = text[at]; code !== '"' && at < text.length; code = text[at]) at += code === '\\' ? 2 : 1
    mended += text.slice(quote, ++at)
  }
}

/** Characters at the beginning and the end of a message in which its id is looked for. */
const LOOKED_AT = 300
/** JSON, and what others write in place of it: quotes of another kind, or none around the names. */
const ID = /["']?id["']?\s*:\s*(?:(\d{1,15})|["']([^"'\\]{1,100})["'])/.source
const VERSION = /["']?jsonrpc["']?\s*:\s*["'][^"']*["']/.source
const FIRST_ID = new RegExp(`^[^{]*\\{\\s*(?:${VERSION}\\s*,\\s*)?${ID}`)
const LAST_ID = new RegExp(`${ID}\\s*(?:,\\s*${VERSION}\\s*)?,?\\s*\\}\\s*$`)

/**
 * Returns by its ends what a message is that is too long to be read: an answer, with its id if that stands there, or
 * something that nobody waits for.
 */
export function unreadKind(
  text: string,
): { readonly kind: 'answer'; readonly id?: string } | { readonly kind: 'other' } {
  const begin = text.slice(0, LOOKED_AT)
  if (!/^\s*[{[}\]]/.test(begin) || METHOD.test(begin)) return { kind: 'other' }
  const id = idAtEnds(text)
  return { kind: 'answer', ...(id === undefined ? {} : { id }) }
}

const METHOD = /["']?method["']?\s*:/

function idAtEnds(text: string): string | undefined {
  const found = FIRST_ID.exec(text.slice(0, LOOKED_AT)) ?? LAST_ID.exec(text.slice(-LOOKED_AT))
  return found?.[1] ?? found?.[2]
}

/** The id of an answer that is no JSON, and the error that stands for it. */
export interface TornAnswer {
  readonly id?: string | undefined
  readonly error: { readonly code: number; readonly message: string }
}

/**
 * Returns what stands for a text that is no JSON and yet clearly an answer, such as one that is torn or written with
 * single quotes; undefined for any other text.
 */
export function tornAnswer(text: string): TornAnswer | undefined {
  const begin = text.slice(0, LOOKED_AT)
  const ends = `${begin} ${text.slice(-LOOKED_AT)}`
  const isAnswer = /jsonrpc["']?\s*:/.test(ends) && /\b(?:id|result|error)["']?\s*:/.test(ends)
  if (!isAnswer || METHOD.test(begin)) return undefined
  return { id: idAtEnds(text), error: { code: INTERNAL_ERROR, message: `its answer is no JSON${whyTorn(text)}` } }
}

/** The longest text that is read once more, for the words about what is wrong in it. */
const LONGEST_READ_AGAIN = 1_000_000

function whyTorn(text: string): string {
  if (text.length > LONGEST_READ_AGAIN) return ''
  try {
    readJson(text, DOORS.toolServer)
    return ''
  } catch (error) {
    const { cause } = toError(error)
    return cause instanceof Error ? ` (${cutText(cause.message, LOOKED_AT)})` : ''
  }
}

/** Returns the error that stands for an answer which is too long to be read. */
export function unreadError(error: unknown): { readonly code: number; readonly message: string } {
  const why = error instanceof ParleyError ? error.message.replace(/\.$/, '') : String(error)
  return { code: INTERNAL_ERROR, message: `its answer is too large to be read (${why}); ask for less` }
}

/** The longest line that is searched for the codes of a terminal. */
const LONGEST_COLOURED = 100_000
const INTERNAL_ERROR = -32_603
const BEGINS = /\{\s*"jsonrpc"/
const BEGINS_BEHIND = /\{\s*"(?:jsonrpc|id|result|error)"/
/** The place between two messages of one line. */
const BETWEEN = /(?<=\})\s*(?=\{\s*"jsonrpc")/

/**
 * Reads messages from the lines of a standard output, in the forms in which real programs write them: behind a mark of
 * the byte order or colours, several in a list or in one line, behind other words, or laid out over several lines.
 */
export class MessageLines {
  readonly #most: number
  /** The text that was read last: a line, or the whole of a message that ended with it. */
  last = ''
  /** The lines of a message that has begun, laid out for people. */
  #begun: string[] | undefined
  #size = 0

  /** `most`: the longest message, in characters. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Returns the messages that are whole with this line; undefined for a line that is none and belongs to none. Throws
   * `too_long` for a message beyond the bounds.
   */
  read(raw: string): readonly SentMessage[] | undefined {
    const line = plain(raw)
    this.last = line
    // Within a message that is laid out, every line but the last is indented.
    const whole = this.#begun !== undefined && /^\s/.test(line) ? undefined : messagesIn(line)
    if (whole !== undefined) {
      this.#begun = undefined
      return whole
    }
    if (line === '{' || line === '[') {
      this.#begun = [line]
      this.#size = 1
      return []
    }
    return this.#begun === undefined ? behindWords(line) : this.#join(this.#begun, line)
  }

  #join(begun: string[], line: string): readonly SentMessage[] | undefined {
    begun.push(line)
    this.#size += line.length
    const ends = line === '}' || line === ']'
    if (!ends && this.#size <= this.#most) return []
    this.#begun = undefined
    if (!ends) throw new ParleyError('too_long', `It has more than ${this.#most} characters.`)
    this.last = begun.join('\n')
    return messagesIn(this.last)
  }
}

/**
 * Returns the answer to a request in the strict form that the library takes: some programs write `"error": null` beside
 * a result, an error without a number, or leave out the version.
 */
export function strictAnswer(id: RequestId, { result, error }: SentMessage): JSONRPCMessage {
  const answer = { jsonrpc: '2.0', id } as const
  if (error !== undefined && error !== null) return { ...answer, error: strictError(error) }
  if (result === undefined || result === null) return { ...answer, result: {} }
  if (isRecord(result)) return { ...answer, result }
  return { ...answer, result: { toolResult: result } }
}

/** Returns a request of a program in the form that the library takes. */
export function strictRequest({ params, ...message }: SentMessage): JSONRPCMessage {
  const given = params === null || params === undefined ? {} : { params }
  return { ...message, ...given, jsonrpc: '2.0' } as unknown as JSONRPCMessage
}

/** Characters of the data of an error that are handed on: the addresses and versions in it are read. */
const MOST_DATA = 4_000

function strictError(error: unknown): { code: number; message: string; data?: unknown } {
  const { code, data }: { code?: unknown; data?: unknown } = isRecord(error) ? error : {}
  const number = typeof code === 'number' && Number.isInteger(code) ? code : INTERNAL_ERROR
  const isKept = data !== undefined && JSON.stringify(data).length <= MOST_DATA
  return { code: number, message: errorWords(error), ...(isKept ? { data } : {}) }
}

/** Characters of a text of an error that are shown. */
const LONGEST_WORDS = 700
/** Characters of its beginning and its end that are looked at. */
const [BEGINNING, END] = [8_000, 2_000]

/** Returns an error of a server in words: often its message is that of the code, and the reason stands in its data. */
export function errorWords(error: unknown): string {
  if (!isRecord(error)) return shortWords(String(error))
  const { code, message, data } = error
  const said = typeof message === 'string' ? shortWords(message) : ''
  const more = data === undefined || data === null ? '' : valueWords(data)
  const reason = said !== '' && more.includes(said) ? '' : said
  const words = [reason, said.includes(more) ? '' : more].filter((part) => part !== '').join(': ')
  if (words !== '' || said !== '') return words || said
  return message === undefined ? valueWords(error) : `error ${String(code)}, without words`
}

/** Returns what a body says in place of the protocol: often an exception with all its frames, or a page. */
export function bodyWords(bytes: Uint8Array): string {
  const value = parsedOrNot(bytes)
  if (isRecord(value)) {
    const error = [value.error, value.jsonRpcError].find(isRecord)
    return error === undefined ? reasonIn(value) || valueWords(value) : errorWords(error)
  }
  if (value !== undefined) return valueWords(value)
  const text = Buffer.from(bytes).toString('utf8')
  // One that is longer than what was read of it.
  return /^\s*\{/.test(text) ? shortWords(SAID.exec(text)?.[1] ?? '') || shortWords(text) : shortWords(text)
}

const SAID = /"(?:message|localizedMessage|detail|error)"\s*:\s*"((?:[^"\\]|\\.){1,500})"/

function parsedOrNot(bytes: Uint8Array): unknown {
  try {
    return readMessage(bytes)
  } catch {
    return undefined
  }
}

/** The fields in which errors of all kinds have their words, the most telling first. */
const REASONS = [
  ...['message', 'error_description', 'detail', 'error', 'errors', 'jsonRpcError', 'errorMessage', 'Message'],
  ...['localizedMessage', 'msg', 'reason', 'title', 'description'],
]
const DEEPEST_REASON = 3

/** Returns the words of an error of any form; empty where it has none at shallow depth. */
function reasonIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return shortWords(value)
  if (typeof value !== 'object' || value === null || depth > DEEPEST_REASON) return ''
  const inner = Array.isArray(value) ? value.slice(0, 1) : REASONS.map((name) => (isRecord(value) ? value[name] : ''))
  for (const one of inner) {
    const words = reasonIn(one, depth + 1)
    if (words !== '') return words
  }
  return ''
}

/** Returns a value in words: as JSON where that is short, else what it gives as its reason. */
function valueWords(value: unknown): string {
  if (typeof value === 'string') return shortWords(value)
  const json = JSON.stringify(value)
  return json.length <= LONGEST_WORDS ? json : reasonIn(value) || shortWords(json)
}

const FRAME = /^\s*(?:at |File "|\.{3} \d+ more|Traceback \()/

/** Returns the beginning of a text, without the tags of a page and the frames of a stack. */
export function shortWords(text: string, longest = LONGEST_WORDS): string {
  const isLong = text.length > BEGINNING + END
  let words = isLong ? `${text.slice(0, BEGINNING)}\n${text.slice(-END).replace(/^.*/, '')}` : text
  if (/^\s*<[a-z!]|<(?:html|body|pre|p|div|h[1-6])\b/i.test(words))
    words = words
      .replace(/<(style|script)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ')
      .replace(/<[^<>]*>/g, ' ')
      .replace(/\s+/g, ' ')
  // Python writes a line of the source below each frame, and the reason last.
  const isPython = words.includes('Traceback (')
  const kept = words.split('\n').filter((line) => !FRAME.test(line) && !(isPython && /^\s/.test(line)))
  return cutText(kept.join('\n').trim() || words.trim(), longest)
}

function plain(line: string): string {
  const text = line.trimEnd()
  return text.includes('\u001b') && text.length < LONGEST_COLOURED ? stripVTControlCharacters(text) : text
}

function messagesIn(text: string): readonly SentMessage[] | undefined {
  const found = readMessage(text)
  if (found !== undefined) return asMessages(found)
  if (!BEGINS.test(text)) return undefined
  const parts = text.split(BETWEEN)
  if (parts.length === 1) return undefined
  const all = parts.map((part) => asMessages(readMessage(part)))
  return all.every((messages) => messages !== undefined) ? all.flat() : undefined
}

/**
 * Returns the answers behind words without an end of line, or behind the mark of a byte order. A log may repeat what
 * the program was asked: only an answer is sure to be meant for this end.
 */
function behindWords(line: string): readonly SentMessage[] | undefined {
  const at = line.search(BEGINS_BEHIND)
  if (at <= 0) return undefined
  const answers = messagesIn(line.slice(at))?.filter((one) => 'jsonrpc' in one && !('method' in one)) ?? []
  return answers.length === 0 ? undefined : answers
}

function asMessages(found: unknown): readonly SentMessage[] | undefined {
  const all: readonly unknown[] = Array.isArray(found) ? found : [found]
  const messages = all.filter(isMessage)
  return messages.length === 0 || messages.length < all.length ? undefined : messages
}

function isMessage(found: unknown): found is SentMessage {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return false
  // A line of a log may have an error in it, too.
  return ('jsonrpc' in found || 'id' in found) && ('method' in found || 'result' in found || 'error' in found)
}

/** A result or params as the server gives them: the library, which would walk them, sees one field. */
export interface Given {
  readonly given: unknown
}

/**
 * Makes a transport forgive what real servers get wrong in their first answer, for which the library would not
 * connect: a name that is missing, and capabilities that are no objects. All other results and params are handed on as
 * `Given`. `version` is the version of the protocol that the client says it speaks; default: the newest. Returns the
 * transport.
 */
export function lenient(transport: Transport, version?: string): Transport {
  let initialize: RequestId | undefined
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if (!('method' in message) || message.method !== 'initialize' || !('id' in message)) return send(message, options)
    initialize = message.id
    const params = version === undefined ? message.params : { ...message.params, protocolVersion: version }
    return send({ ...message, ...(params === undefined ? {} : { params }) }, options)
  }
  const start = transport.start.bind(transport)
  transport.start = async () => {
    const hand = transport.onmessage
    transport.onmessage = (message, extra) => {
      const isFirst = initialize !== undefined && 'result' in message && message.id === initialize
      hand?.(isFirst ? ({ ...message, result: mended(message.result) } as JSONRPCMessage) : closed(message), extra)
    }
    return start()
  }
  return transport
}

function closed(message: JSONRPCMessage): JSONRPCMessage {
  if ('result' in message) return { ...message, result: { given: message.result } satisfies Given }
  return 'method' in message ? { ...message, params: { given: message.params } satisfies Given } : message
}

/** Returns what the library needs of a first answer. No model is shown what a server says of itself. */
function mended(result: unknown): unknown {
  if (!isRecord(result)) return result
  const { serverInfo, capabilities, protocolVersion } = result
  const { name = 'unnamed', version = '0' } = isRecord(serverInfo) ? serverInfo : {}
  const hasTools = isRecord(capabilities) && isRecord(capabilities.tools)
  return {
    ...{ protocolVersion, capabilities: hasTools ? { tools: {} } : {} },
    serverInfo: { name: isText(name) ? name : 'unnamed', version: isText(version) ? version : '0' },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** The versions of the protocol that the library speaks besides the newest, the newest of them first. */
const OLDER = ['2025-06-18', '2025-03-26', '2024-11-05']

/** Returns the newest older version that a refusal of the newest one names, in its words or its data. */
export function olderVersion(refusal: unknown): string | undefined {
  const { message = '', data = '' } = isRecord(refusal) ? refusal : {}
  const words = `${String(message)} ${JSON.stringify(data) ?? ''}`
  return /version/i.test(words) ? OLDER.find((version) => words.includes(version)) : undefined
}

/** The codes of the protocol for a method that is not known, and for wrong params. */
export const UNKNOWN_METHOD = -32_601
const WRONG_PARAMS = -32_602

/** Returns a page of a list, in another turn of the loop than that in which it was parsed. */
export async function pageIn({
  given,
}: Partial<Given>): Promise<{ readonly tools: readonly unknown[]; readonly nextCursor?: unknown }> {
  await nextTurn()
  const { tools, nextCursor } = isRecord(given) ? given : {}
  return { tools: Array.isArray(tools) ? tools : [], nextCursor }
}

/** Returns the params of a request for an elicitation. Throws for any other request, in the words of the protocol. */
export function asElicitation(method: string, params: unknown): unknown {
  const refused = (code: number, words: string): Error => Object.assign(new Error(words), { code })
  if (method !== 'elicitation/create') throw refused(UNKNOWN_METHOD, 'Method not found')
  if (isRecord(params) && params.mode === 'url')
    throw refused(WRONG_PARAMS, 'This client does not support URL-mode elicitation')
  return params
}
