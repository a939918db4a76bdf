import { decodeWestern } from '../core/read-text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/

/** Bytes of a longer file that say whether it is text: to decode all of it would hold up everything else. */
const LOOKED_AT = 1_000_000

/**
 * Returns the beginning of a text, `most` bytes or a million: UTF-16 with its mark, UTF-8, else the western code page.
 * Undefined for bytes that are no text, known by characters that no text has.
 */
export function readText(bytes: Uint8Array, most = 0): string | undefined {
  if (!isUtf16(bytes) && bytes.includes(0)) return undefined
  const text = decoded(bytes, Math.max(most, LOOKED_AT))
  return NO_TEXT.test(text) ? undefined : text
}

/** Returns true for bytes that begin with the mark of UTF-16. */
export function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

function decoded(bytes: Uint8Array, most: number): string {
  const head = bytes.subarray(0, most)
  // A character that is cut in two at the end of the head is left out.
  const stream = head.length < bytes.length
  if (isUtf16(bytes)) return new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(head, { stream })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream })
  } catch {
    return decodeWestern(head)
  }
}
