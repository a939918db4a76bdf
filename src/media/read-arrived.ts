import type { Clock } from '../core/clock.ts'
import type { MediaPart } from '../core/content.ts'
import { sizeInWords } from '../core/content-words.ts'
import { cutText } from '../core/cut-text.ts'
import { isFull } from '../core/full-disk.ts'
import type { Logger } from '../core/logger.ts'
import type { ArrivedFile, MediaStore, ReadArrived } from '../core/media.ts'
import type { FileReading } from '../core/message.ts'
import { cannotBeShown } from './media-kind.ts'
import { createPlaces } from './places.ts'
import { type PdfText, readPdf } from './read-pdf.ts'
import { readText } from './read-text.ts'

interface Deps {
  readonly media: Pick<MediaStore, 'keep'>
  readonly clock: Clock
  readonly logger: Logger
}

const PDF = 'application/pdf'
const UNREADABLE_PDF: FileReading = { unread: 'a PDF that cannot be read' }
/** Each is read in a worker, which takes a processor and hundreds of megabytes where somebody means harm. */
const PDFS_AT_ONCE = 2

const IS_TEXT = /^(?:text\/|application\/(?:xml|json)$|image\/svg\+xml$)/

/** Returns the function that keeps what arrives and finds out what a model can be shown of it, by the content alone. */
export function createReadArrived(deps: Deps): ReadArrived {
  const inTurn = createPlaces(PDFS_AT_ONCE)
  return async (file, longest, signal) => {
    const kept = await keep(deps, file, signal)
    if ('unread' in kept) return kept
    const { media } = kept
    if (media.type === 'image') return { media }
    const read = () => readContent(deps, file, { media, longest, signal })
    const shown = await (media.mime === PDF ? inTurn(read, signal) : read())
    return { media, ...(shown ?? UNREADABLE_PDF) }
  }
}

async function keep(
  { media, logger }: Deps,
  { bytes, name }: ArrivedFile,
  signal: AbortSignal,
): Promise<{ readonly media: MediaPart } | { readonly unread: string }> {
  try {
    return { media: await media.keep(bytes, name, signal) }
  } catch (err) {
    logger.warn('A file that came with a message could not be kept', { err, bytes: bytes.length })
    return { unread: isFull(err) ? 'there is no room left for files here' : 'it could not be kept' }
  }
}

interface Wanted {
  readonly media: MediaPart
  readonly longest: number
  readonly signal: AbortSignal
}

async function readContent(
  { clock }: Deps,
  { bytes, kind }: ArrivedFile,
  { media: { mime }, longest, signal }: Wanted,
): Promise<FileReading> {
  if (mime === PDF) {
    const read = await readPdf(bytes, { clock, signal, longest })
    if (read === undefined) return UNREADABLE_PDF
    return 'locked' in read ? { unread: 'a PDF that only a password opens' } : pdfReading(read, longest)
  }
  const text = IS_TEXT.test(mime) ? readText(bytes, BYTES_A_CHARACTER * longest) : undefined
  if (text?.trim() === '' && text.length <= longest) return { unread: 'there is nothing in it' }
  if (text !== undefined) return cutAt(longest, text, bytes.length)
  return { unread: cannotBeShown(mime, bytes) ?? reasonOf(mime, kind) }
}

function pdfReading({ text, read, pages, damaged }: PdfText, longest: number): FileReading {
  if (text.trim() === '') return damaged.length > 0 ? UNREADABLE_PDF : { unread: withoutText(read, pages) }
  const lost = damaged.length > 0 ? [`the damaged pages ${damaged.slice(0, MOST_NAMED).join(', ')}`] : []
  if (damaged.length > MOST_NAMED) lost.push('and others')
  // The library finds no page behind a damaged one that stands in the same part of the document.
  if (damaged.includes(pages)) lost.push('and what comes after them')
  if (read < pages) lost.push(`pages ${read + 1} to ${pages}`)
  else if (text.length >= longest) lost.push('the end')
  return lost.length > 0 ? { text, cut: lost.join(', ') } : { text }
}

const MOST_NAMED = 10

function withoutText(pages: number, all: number): string {
  const where =
    pages < all ? ` on its first pages, of ${all}` : `, ${all === 1 ? 'a page' : `${all} pages`} of pictures`
  return `a PDF without text${where}`
}

function reasonOf(mime: string, kind: ArrivedFile['kind']): string {
  if (kind === 'sticker') return 'it moves'
  return mime === 'application/octet-stream' ? 'of no known type' : `of the type ${mime}`
}

/** The most bytes of a character in any encoding. */
const BYTES_A_CHARACTER = 4

/** Returns the beginning of a text, and in words how much of it was left out. */
function cutAt(longest: number, text: string, size: number): FileReading {
  if (text.length <= longest) return { text }
  const shown = cutText(text, longest)
  // A long file is not decoded to its end only to count.
  const more = size > COUNTED ? `the rest of ${sizeInWords(size)}` : `${text.length - shown.length} more characters`
  return { text: shown, cut: more }
}

/** Bytes of a text whose characters are counted. */
const COUNTED = 1_000_000
