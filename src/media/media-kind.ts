import type { MediaPart } from '../core/content.ts'
import { isDamagedText, isPdf, LOOKED_AT } from '../core/read-text.ts'
import { encodingWithoutMark } from '../platform/decode-text.ts'
import { readImageHeader } from './image-header.ts'

/** The images that models can be shown. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Pixels a side: providers refuse more. */
export const MOST_SIDE = 8_000

/**
 * Returns the kind of a file by its content alone: a name and what a sender says of it are not believed. A picture that
 * moves, or is larger than any model takes, is a file. The library that knows the formats is loaded with the first.
 */
export async function kindOf(bytes: Uint8Array): Promise<Pick<MediaPart, 'type' | 'mime'>> {
  const isText = isTextual(bytes)
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(bytes))?.mime.split(';')[0]
  const mime = isText ? textKind(bytes, found) : (found ?? unknownKind(bytes))
  return { type: SHOWN_IMAGES.has(mime) && !cannotBeShown(mime, bytes) ? 'image' : 'file', mime }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/
/** Old programs end a text with it. */
export const END_OF_TEXT = '\u001a'

/**
 * Returns true for bytes that are text in some encoding, known by the characters that no text has. In every encoding
 * but UTF-16 their bytes stand for nothing else.
 */
export function isTextual(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, LOOKED_AT)
  const encoding = markOfUtf16(head) ?? (bytes.includes(0) ? encodingWithoutMark(head) : 'latin1')
  if (encoding === undefined) return false
  const end = head.length === bytes.length && head.at(-1) === END_OF_TEXT.charCodeAt(0) ? -1 : undefined
  return !NO_TEXT.test(new TextDecoder(encoding).decode(head.subarray(0, end), { stream: true }))
}

function markOfUtf16([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

const PDF = 'application/pdf'

/** Returns the type of what is neither text nor known by its first bytes. */
function unknownKind(bytes: Uint8Array): string {
  if (isPdf(bytes)) return PDF
  return isDamagedText(bytes) ? 'text/plain' : 'application/octet-stream'
}

/** Formats that are text themselves, by a complete first line; words about such a format have none. */
const TEXT_FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^\{\\rtf1(?![a-z\d])/, 'application/rtf'],
  [/^%!PS-Adobe-\d\.\d/, 'application/postscript'],
]

/**
 * Returns the type of a text. Many signatures are words (`BM`, `GIF`, `PK`, `ID3`, `MZ`), so that those of formats
 * which are no text say nothing about one. A picture of a few bytes may look like a text of another encoding.
 */
function textKind(bytes: Uint8Array, found: string | undefined): string {
  if (isPdf(bytes)) return PDF
  const begin = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  const format = TEXT_FORMATS.find(([pattern]) => pattern.test(begin))?.[1]
  if (format !== undefined) return format
  if (
    found !== undefined &&
    (/^(?:text\/|application\/(?:xml|json)$|image\/svg)/.test(found) || found === 'image/jpeg')
  )
    return found
  return 'text/plain'
}

/** Returns the reason why no model takes a picture; undefined for one whose header says nothing against it. */
export function cannotBeShown(mime: string, bytes: Uint8Array): string | undefined {
  if (!SHOWN_IMAGES.has(mime)) return undefined
  const header = readImageHeader(mime, bytes)
  if (header === undefined) return undefined
  const { width, height, moves } = header
  if (moves) return 'a moving picture'
  if (width === 0 || height === 0) return `${width} × ${height} pixels, so there is nothing to see`
  return Math.max(width, height) > MOST_SIDE ? `${width} × ${height} pixels, more than models take` : undefined
}
