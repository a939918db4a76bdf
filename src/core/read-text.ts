/** The bytes at the beginning of a page in which it may name its encoding. */
const HEAD = 2_048
const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
/** The characters of windows-1252 from 0x80 on, which Node 20 decodes as if they were control characters. */
const WESTERN = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

export interface ReadText {
  readonly text: string
  /** The name that the standard of encodings has for it: `utf-8`. */
  readonly encoding: string
  /** Some bytes stand for no character of the encoding; the text has U+FFFD in their place. */
  readonly damaged: boolean
}

/**
 * Returns bytes as text, without the mark at their beginning: in the encoding of the mark, else the first of these
 * names that is one, else UTF-8. `stream`: the bytes are a beginning, and a character that is cut at its end is left
 * out.
 */
export function readText(bytes: Uint8Array, names: readonly (string | undefined)[] = [], stream = false): ReadText {
  const encoding = [markOf(bytes), ...names].map(encodingOf).find((one) => one !== undefined) ?? 'utf-8'
  if (encoding === 'windows-1252') return { text: decodeWestern(bytes), encoding, damaged: false }
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream }), encoding, damaged: false }
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes, { stream }), encoding, damaged: true }
  }
}

/** Returns bytes of windows-1252 as text; this is what others mean by ISO-8859-1 and by ASCII too. */
export function decodeWestern(bytes: Uint8Array): string {
  const text = new TextDecoder('windows-1252').decode(bytes)
  return text.replace(/[\u0080-\u009f]/g, (code) => WESTERN.charAt(code.charCodeAt(0) - 0x80))
}

/** Returns the encoding of that name in the standard; undefined for a name that is none. */
export function encodingOf(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

/** Returns the encoding that a header names, or the beginning of a page or of XML. */
export function charsetIn(words: string | Uint8Array): string | undefined {
  const text = typeof words === 'string' ? words : Buffer.from(words.subarray(0, HEAD)).toString('latin1')
  return /(?:charset|encoding)\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i.exec(text)?.[1]
}

/** Returns true for bytes that no text has. */
export function isBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, HEAD).includes(0)
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
}
