import { setImmediate as nextTurn } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { readJson } from '../core/read-json.ts'
import { isRecord } from '../core/schema-node.ts'

/** A message as it was sent; nothing but its being an object is known. */
export type SentMessage = Readonly<Record<string, unknown>>

/** The notification of a server that its tools are others now. */
export const LIST_CHANGED = 'notifications/tools/list_changed'
/**
 * Returns the value of a message; undefined for what is no JSON. Throws `too_long` for one beyond the bounds of a tool
 * server.
 */
export function readMessage(source: Uint8Array | string): unknown {
  try {
    return readJson(source, DOORS.toolServer)
  } catch (error) {
    if (errorCode(error) === 'too_long') throw error
    return undefined
  }
}

/** Characters at the beginning and the end of a message in which its id is looked for. */
const LOOKED_AT = 300
const FIRST_ID = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"]*"\s*,\s*)?"id"\s*:\s*(?:(\d{1,15})|"([^"\\]{1,100})")/
const LAST_ID = /"id"\s*:\s*(?:(\d{1,15})|"([^"\\]{1,100})")\s*(?:,\s*"jsonrpc"\s*:\s*"[^"]*"\s*)?\}\s*$/

/**
 * Returns by its ends what a message is that is too long to be read: an answer, with its id if that stands there, or
 * something that nobody waits for.
 */
export function unreadKind(
  text: string,
): { readonly kind: 'answer'; readonly id?: string } | { readonly kind: 'other' } {
  const begin = text.slice(0, LOOKED_AT)
  const found = FIRST_ID.exec(begin) ?? LAST_ID.exec(text.slice(-LOOKED_AT))
  if (!/^\s*[{[}\]]/.test(begin) || /"method"\s*:/.test(begin)) return { kind: 'other' }
  const id = found?.[1] ?? found?.[2]
  return { kind: 'answer', ...(id === undefined ? {} : { id }) }
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
/** The place between two messages of one line. */
const BETWEEN = /(?<=\})\s*(?=\{\s*"jsonrpc")/

/**
 * Reads messages from the lines of a standard output, in the forms in which real programs write them: behind a mark of
 * the byte order or colours, several in a list or in one line, behind other words, or laid out over several lines.
 */
export class MessageLines {
  readonly #most: number
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
    return messagesIn(begun.join('\n'))
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

function strictError(error: unknown): { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return { code: INTERNAL_ERROR, message: String(error) }
  const { code, data }: { code?: unknown; data?: unknown } = error
  const number = typeof code === 'number' && Number.isInteger(code) ? code : INTERNAL_ERROR
  return { code: number, message: errorWords(error), ...(data === undefined ? {} : { data }) }
}

/** Characters of the data of an error that are shown, and of its message and its data that are looked at. */
const LONGEST_DATA = 700
const LONGEST_ERROR = 10_000

/** Returns an error of a server in words: often its message is that of the code, and the reason stands in its data. */
export function errorWords(error: object): string {
  const { code, message, data }: { code?: unknown; message?: unknown; data?: unknown } = { ...error }
  const said = typeof message === 'string' ? message.slice(0, LONGEST_ERROR).trim() : ''
  const whole = data === undefined || data === null ? '' : typeof data === 'string' ? data : JSON.stringify(data)
  const more = whole.slice(0, LONGEST_ERROR)
  const reason = said !== '' && more.includes(said) ? '' : said
  const shown = said.includes(more) ? '' : cutText(more.trim(), LONGEST_DATA)
  const words = shown === '' ? said : [reason, shown].filter((part) => part !== '').join(': ')
  if (words !== '') return words
  return message === undefined ? cutText(JSON.stringify(error), LONGEST_DATA) : `error ${String(code)}, without words`
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
  const at = line.search(BEGINS)
  if (at <= 0) return undefined
  const answers = messagesIn(line.slice(at))?.filter((message) => !('method' in message)) ?? []
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
