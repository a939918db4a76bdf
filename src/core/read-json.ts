import { ParleyError } from './errors.ts'

/** The most that a text of JSON from outside may hold before anything walks it. */
export interface JsonBounds {
  /** Bytes of UTF-8; for a text that is decoded already, characters. */
  readonly bytes: number
  /** Values within each other: `[[1]]` has a depth of 2. Default: 100. */
  readonly depth?: number
  /** Lists, objects, members and items together. */
  readonly values: number
  /** A text in it may continue in the next one, so that half a character at its end is kept. */
  readonly halves?: true
}

/** The size of a text, measured by one pass over its characters, without making any of its values. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

/** Deeper than anything a platform, a model or a schema sends; a walk of it fits every stack. */
const DEPTH = 100
/** An engine keeps each name as a symbol, which costs many times what a text of that length does. */
const LONG_NAME = 64
const LONG_NAMES = 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns the value of a text of JSON from outside. Its size is measured before it is parsed, so that what is refused
 * costs one pass over its bytes. Throws `too_long` in words about the bound that was exceeded, and `invalid` for a text
 * that is no JSON or no UTF-8. A mark of UTF-8 at its beginning counts as absent, and half a character, which JSON can
 * write and UTF-8 cannot, as U+FFFD. Every door to the outside reads JSON by this function (`architecture.test.ts`).
 */
export function readJson(source: Uint8Array | string, bounds: JsonBounds): unknown {
  if (source.length > bounds.bytes) throw tooLong(`${bounds.bytes} bytes`)
  const bytes = withoutMark(bytesOf(source))
  if (isUtf16(bytes)) throw new ParleyError('invalid', 'The JSON is UTF-16: send it as UTF-8.')
  measureJson(bytes, bounds)
  const text = typeof source === 'string' ? source.replace(/^\uFEFF/, '').toWellFormed() : decoded(bytes)
  if (text.trim() === '') throw new ParleyError('invalid', 'There is no JSON: it is empty.')
  try {
    return bounds.halves || !HALF.test(text) ? JSON.parse(text) : JSON.parse(text, whole)
  } catch (cause) {
    throw new ParleyError('invalid', 'It is no JSON.', { cause })
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch (cause) {
    throw new ParleyError('invalid', 'The JSON is not UTF-8: send it as UTF-8.', { cause })
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** Knows UTF-16 by its mark, or by the zero beside the first character, which is one of ASCII in JSON. */
function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0
}

/** Half of a pair of surrogates, whether the other half is beside it or not. */
const HALF = /\\u[dD][89a-fA-F]/

/** Makes the texts and names of a value whole characters. Bounded by the values: an expression over the text is not. */
function whole(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (Object.keys(value).every((name) => name.isWellFormed())) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), one]))
}

/**
 * Returns the size of a text of JSON; of a text that is none, any size. Throws `too_long` at the first character that
 * exceeds a bound: what follows is not looked at.
 */
export function measureJson(source: Uint8Array | string, bounds: Pick<JsonBounds, 'depth' | 'values'>): JsonSize {
  const bytes = bytesOf(source)
  const meter = new JsonMeter({ ...bounds, bytes: bytes.length })
  meter.add(bytes)
  return meter.size
}

/**
 * Measures a text of JSON that comes in pieces and that a library reads by itself. `add` throws `too_long` like
 * `readJson`, with the first piece that exceeds a bound.
 */
export class JsonMeter {
  readonly #bounds: JsonBounds
  #bytes = 0
  #open = 0
  #depth = 0
  #values = 1
  #isInText = false
  /** Bytes of the latest text. */
  #text = 0
  /** Bytes of long names. */
  #named = 0
  /** Characters at the beginning of the next piece that are part of an escape: 0 or 1. */
  #escaped = 0

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
  }

  get size(): JsonSize {
    return { depth: this.#depth, values: this.#values }
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes > this.#bounds.bytes) throw tooLong(`${this.#bounds.bytes} bytes`)
    this.#walk(piece, this.#isInText ? this.#endOfText(piece, this.#escaped) + 1 : 0)
  }

  #walk(piece: Uint8Array, from: number): void {
    for (let at = from; at < piece.length; at++) {
      const code = piece[at]
      if (code === QUOTE) at = this.#beginText(piece, at + 1)
      else if (code === COMMA) this.#value()
      else if (code === COLON) this.#name()
      else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#opened()
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) this.#open--
    }
  }

  #value(): void {
    this.#values++
    if (this.#values > this.#bounds.values) throw tooLong(`${this.#bounds.values} values`)
  }

  /** Called behind the name of a member. */
  #name(): void {
    if (this.#text <= LONG_NAME) return
    this.#named += this.#text
    if (this.#named > LONG_NAMES) throw tooLong(`${LONG_NAMES} bytes of names with more than ${LONG_NAME} each`)
  }

  #opened(): void {
    const { depth = DEPTH } = this.#bounds
    this.#open++
    if (this.#open > this.#depth) this.#depth = this.#open
    if (this.#depth > depth) throw tooLong(`${depth} levels within each other`)
    this.#value()
  }

  #beginText(piece: Uint8Array, from: number): number {
    this.#text = 0
    return this.#endOfText(piece, from)
  }

  /** Returns the place of the quote that ends a text; behind the piece where the text continues in the next one. */
  #endOfText(piece: Uint8Array, from: number): number {
    let at = from
    for (let code = piece[at]; code !== QUOTE && at < piece.length; code = piece[at]) at += code === BACKSLASH ? 2 : 1
    this.#text += Math.min(at, piece.length) - from
    this.#isInText = at >= piece.length
    this.#escaped = at > piece.length ? 1 : 0
    return at
  }
}

function bytesOf(source: Uint8Array | string): Buffer {
  if (typeof source === 'string') return Buffer.from(source)
  return Buffer.isBuffer(source) ? source : Buffer.from(source.buffer, source.byteOffset, source.length)
}

function tooLong(most: string): ParleyError {
  return new ParleyError('too_long', `The JSON has more than ${most}.`)
}
