import { isUtf8 } from 'node:buffer'
import { ParleyError } from './errors.ts'

/** The most that a text of JSON from outside may hold before anything walks it. */
export interface JsonBounds {
  /** Bytes of UTF-8; for a text that is decoded already, characters. */
  readonly bytes: number
  /** Values within each other: `[[1]]` has a depth of 2. Default: 100. */
  readonly depth?: number
  /** Lists, objects, members and items together. */
  readonly values: number
}

/** What a text holds: measured by one pass over its characters, without making any of its values. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

/** Deeper than anything a platform, a model or a schema sends; a walk of it fits every stack. */
const DEPTH = 100

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns the value of a text of JSON from outside. Its size is measured before it is parsed, so that what is refused
 * costs one pass over its bytes. Throws `too_long` in words about the bound that was exceeded, and `invalid` for a text
 * that is no JSON or no UTF-8. Every door to the outside reads JSON by this function (`architecture.test.ts`).
 */
export function readJson(source: Uint8Array | string, bounds: JsonBounds): unknown {
  if (source.length > bounds.bytes) throw tooLong(`${bounds.bytes} bytes`)
  const bytes = bytesOf(source)
  measureJson(bytes, bounds)
  if (!isUtf8(bytes)) throw new ParleyError('invalid', 'The JSON is not UTF-8: it is sent in nothing else.')
  try {
    return JSON.parse(typeof source === 'string' ? source : bytes.toString('utf8'))
  } catch (cause) {
    throw new ParleyError('invalid', 'It is no JSON.', { cause })
  }
}

/**
 * Returns the size of a text of JSON; of a text that is none, any size. Throws `too_long` at the first character that
 * exceeds a bound: what follows is not looked at.
 */
export function measureJson(
  source: Uint8Array | string,
  { depth: deepest = DEPTH, values: most }: Pick<JsonBounds, 'depth' | 'values'>,
): JsonSize {
  const bytes = bytesOf(source)
  let open = 0
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === QUOTE) at = endOfText(bytes, at + 1)
    else if (code === COMMA) values++
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      open++
      values++
      if (open > depth) depth = open
      if (depth > deepest) throw tooLong(`${deepest} levels within each other`)
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) open--
    if (values > most) throw tooLong(`${most} values`)
  }
  return { depth, values }
}

function endOfText(bytes: Uint8Array, from: number): number {
  let at = from
  for (let code = bytes[at]; code !== QUOTE && at < bytes.length; code = bytes[at]) at += code === BACKSLASH ? 2 : 1
  return at
}

function bytesOf(source: Uint8Array | string): Buffer {
  if (typeof source === 'string') return Buffer.from(source)
  return Buffer.isBuffer(source) ? source : Buffer.from(source.buffer, source.byteOffset, source.length)
}

function tooLong(most: string): ParleyError {
  return new ParleyError('too_long', `The JSON has more than ${most}.`)
}
