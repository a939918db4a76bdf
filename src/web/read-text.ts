import { TextDecoder } from 'node:util'

/** The bytes at the beginning of a page in which it may name its encoding. */
const HEAD = 2_048
const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/**
 * Returns a body as text, by the mark at its beginning, the header, or its own `meta` element, in this order; by UTF-8
 * where none of them names an encoding that exists.
 */
export function readText(bytes: Uint8Array, contentType: string): string {
  const named = [
    markOf(bytes),
    charsetIn(contentType),
    charsetIn(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1')),
  ]
  const decoder = named.map(decoderOf).find((one) => one !== undefined) ?? new TextDecoder()
  return decoder.decode(bytes)
}

/** Returns true for bytes that no text has. */
export function isBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, HEAD).includes(0)
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
}

function charsetIn(text: string): string | undefined {
  return /(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text)?.[1]
}

function decoderOf(name: string | undefined): TextDecoder | undefined {
  try {
    return name === undefined ? undefined : new TextDecoder(name)
  } catch {
    return undefined
  }
}
