import { stripVTControlCharacters } from 'node:util'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { cutText } from '../core/cut-text.ts'
import { isRecord } from '../core/schema-node.ts'

/** A message as it was sent; nothing but its being an object is known. */
export type SentMessage = Readonly<Record<string, unknown>>

/** The notification of a server that its tools are others now. */
export const LIST_CHANGED = 'notifications/tools/list_changed'
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

  /** Returns the messages that are whole with this line; undefined for a line that is none and belongs to none. */
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
    return ends ? messagesIn(begun.join('\n')) : undefined
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
  if (typeof result === 'object' && !Array.isArray(result)) return { ...answer, result: { ...result } }
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

/** Characters of the data of an error that are shown. */
const LONGEST_DATA = 700

/** Returns an error of a server in words: often its message is that of the code, and the reason stands in its data. */
export function errorWords(error: object): string {
  const { code, message, data }: { code?: unknown; message?: unknown; data?: unknown } = { ...error }
  const said = typeof message === 'string' ? message.trim() : ''
  const more = data === undefined || data === null ? '' : typeof data === 'string' ? data : JSON.stringify(data)
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
  const found = parsed(text)
  if (found !== undefined) return asMessages(found)
  if (!BEGINS.test(text)) return undefined
  const parts = text.split(BETWEEN)
  if (parts.length === 1) return undefined
  const all = parts.map((part) => asMessages(parsed(part)))
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Makes a transport forgive what real servers get wrong in their first answer, for which the library would not
 * connect: a name that is missing, and capabilities that are no objects. `version` is the version of the protocol that
 * the client says it speaks; default: the newest. Returns the transport.
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
      hand?.(isFirst ? ({ ...message, result: mended(message.result) } as JSONRPCMessage) : message, extra)
    }
    return start()
  }
  return transport
}

function mended(result: unknown): unknown {
  if (!isRecord(result)) return result
  const { serverInfo, capabilities, ...rest } = result
  const { name = 'unnamed', version = '0' } = isRecord(serverInfo) ? serverInfo : {}
  const known = Object.entries(isRecord(capabilities) ? capabilities : {}).filter(([, value]) => isRecord(value))
  return {
    ...{ ...rest, capabilities: Object.fromEntries(known) },
    serverInfo: { name: isText(name) ? name : 'unnamed', version: isText(version) ? version : '0' },
    // No model is shown what a server says of itself.
    instructions: undefined,
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
