import type { Clock } from '../core/clock.ts'
import type { MediaPart } from '../core/content.ts'
import { sizeInWords } from '../core/content-words.ts'
import { cutText } from '../core/cut-text.ts'
import { isFull } from '../core/full-disk.ts'
import type { Logger } from '../core/logger.ts'
import type { ArrivedFile, MediaStore, ReadArrived } from '../core/media.ts'
import type { FileReading } from '../core/message.ts'
import { declaredIn, LOOKED_AT, readDeclared } from '../core/read-text.ts'
import { decodeText } from '../platform/decode-text.ts'
import { createPlaces } from '../platform/run-child.ts'
import { orientationOf } from './image-header.ts'
import { cannotBeShown, END_OF_TEXT } from './media-kind.ts'
import { isOffice, oldDocument, type PdfText, readOffice, readPdf } from './read-document.ts'

interface Deps {
  readonly media: Pick<MediaStore, 'keep'>
  readonly clock: Clock
  readonly logger: Logger
  /** Returns a page as Markdown, in a process of its own; absent: a page is shown as the text that it is. */
  readonly convertPage?: (page: string, base: string, run: Run) => Promise<ReadPage>
}

interface Run {
  readonly clock: Clock
  readonly signal: AbortSignal
}

interface ReadPage {
  readonly title?: string
  readonly markdown: string
  /** The reason, in a sentence, why there is less to read than a browser would show. */
  readonly missing?: string
  readonly plain?: true
  readonly cut?: true
}

const PDF = 'application/pdf'
/** Each is read in a process, which takes a processor and hundreds of megabytes where somebody means harm. */
const DOCUMENTS_AT_ONCE = 2

const IS_TEXT = /^(?:text\/|application\/(?:xml|json)$|image\/svg\+xml$)/

/** Returns the function that keeps what arrives and finds out what a model can be shown of it, by the content alone. */
export function createReadArrived(deps: Deps): ReadArrived {
  const inTurn = createPlaces(DOCUMENTS_AT_ONCE)
  return async (file, longest, signal) => {
    const kept = await keep(deps, file, signal)
    if ('unread' in kept) return kept
    const { media } = kept
    if (media.type === 'image') return { media, ...lyingNote(file.bytes, media) }
    const read = () => readContent(deps, file, { media, longest, signal })
    // A text whose encoding a process has to find is small to it, and yet a process.
    return { media, ...((await inTurn(read, signal)) ?? { unread: unreadable(media.mime) }) }
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

/** The turns that bring a picture upright, by what its camera wrote down. */
const TURNS: Readonly<Record<number, string>> = {
  ...{ 2: 'mirrored', 3: 'upside down', 4: 'mirrored and upside down', 5: 'mirrored and on its side' },
  ...{ 6: 'on its side: turn it by 90° clockwise', 7: 'mirrored and on its side' },
  ...{ 8: 'on its side: turn it by 90° counterclockwise' },
}

/** A picture that could not be brought upright is kept as it came. */
function lyingNote(bytes: Uint8Array, { size }: MediaPart): Pick<FileReading, 'note'> {
  const turn = size === bytes.length ? TURNS[orientationOf(bytes)] : undefined
  return turn === undefined ? {} : { note: `it lies ${turn}` }
}

interface Wanted {
  readonly media: MediaPart
  readonly longest: number
  readonly signal: AbortSignal
}

async function readContent(
  { clock, convertPage }: Deps,
  { bytes, name, kind }: ArrivedFile,
  { media: { mime }, longest, signal }: Wanted,
): Promise<FileReading> {
  if (mime === PDF) {
    const read = await readPdf(bytes, { clock, signal, longest })
    if (read === undefined) return { unread: unreadable(mime) }
    return 'locked' in read ? { unread: 'a PDF that only a password opens' } : pdfReading(read, longest)
  }
  if (isOffice(mime)) return (await readOffice(bytes, { clock, signal, longest })) ?? { unread: unreadable(mime) }
  if (IS_TEXT.test(mime)) {
    const source = await textReading(bytes, { longest, clock, signal, name })
    // A source that is shown whole says all that the page says.
    if (convertPage === undefined || source.cut === undefined || !isPage(source.text, name)) return source
    return (await pageReading(bytes, { longest, clock, signal, convertPage })) ?? source
  }
  return { unread: oldDocument(mime, bytes) ?? cannotBeShown(mime, bytes) ?? reasonOf(mime, kind) }
}

function unreadable(mime: string): string {
  if (mime === PDF) return 'a PDF that cannot be read'
  return isOffice(mime) && mime !== 'application/zip' ? 'a document that cannot be read' : `of the type ${mime}`
}

async function textReading(
  bytes: Uint8Array,
  { longest, name, ...run }: Run & { readonly longest: number; readonly name: string },
): Promise<FileReading> {
  const head = bytes.subarray(0, Math.max(BYTES_A_CHARACTER * longest, LOOKED_AT))
  const stream = head.length < bytes.length
  const begun = Buffer.from(head.subarray(0, BEGINNING)).toString('latin1')
  // Other texts may speak of an encoding, and are not in it.
  const kind = isPage(begun, name) ? 'page' : begun.startsWith('<?xml') ? 'xml' : 'text'
  const { text: decoded, encoding, guess } = await decodeText(head, { ...run, stream, names: [declaredIn(head, kind)] })
  const text = decoded.endsWith(END_OF_TEXT) ? decoded.slice(0, -1) : decoded
  if (text.trim() === '' && text.length <= longest) return { unread: 'there is nothing in it' }
  return { ...cutAt(longest, text, bytes.length), ...(guess ? { note: `read as ${encoding}, which is a guess` } : {}) }
}

/** A text of another kind may begin with a tag as well: then its name says whether it is a page. */
function isPage(text: string | undefined, name: string): boolean {
  const begun = (text ?? '').replace(/^(?:\s+|<\?xml[^>]{0,400}>|<!--.*?-->)+/is, '')
  return (
    /^<(?:!doctype\s+html|html|head|body)(?=[\s>])/i.test(begun) ||
    (/\.x?html?$/i.test(name) && /^<[a-z!]/i.test(begun))
  )
}

/** Bytes of a text that say whether it is a page. */
const BEGINNING = 2_048
/** Bytes of a page that are read. */
const MOST_OF_PAGE = 5_000_000

/** Returns what people read of a page, whose styles may be longer than its words; undefined where that fails. */
async function pageReading(
  bytes: Uint8Array,
  { longest, convertPage, ...run }: Run & Required<Pick<Deps, 'convertPage'>> & { readonly longest: number },
): Promise<FileReading | undefined> {
  const head = bytes.subarray(0, MOST_OF_PAGE)
  const stream = head.length < bytes.length
  const declared = readDeclared(head, { header: '', kind: 'page', stream })
  const { text: page } = declared.guessed ? await decodeText(head, { ...run, stream }) : declared
  const read = await convertPage(page, '', run).catch(() => undefined)
  if (read === undefined || read.markdown.trim() === '') return undefined
  const { title, markdown, missing, plain, cut } = read
  const words = title === undefined || markdown.includes(title) ? markdown : `${title}\n\n${markdown}`
  const shown = cutAt(longest, words, words.length)
  const end = stream || cut ? { cut: 'the end' } : {}
  const form = plain ? 'a page as its words alone' : 'a page as people read it, without its code'
  return { ...end, ...shown, note: missing === undefined ? form : `${form}. ${missing}` }
}

function pdfReading({ text, lacksWords, read, pages, damaged }: PdfText, longest: number): FileReading {
  if (text.trim() === '' && damaged.length > 0) return { unread: unreadable(PDF) }
  if (text.trim() === '') return { unread: lacksWords ? `a PDF whose ${WITHOUT_TABLES}` : withoutText(read, pages) }
  const lost = damaged.length > 0 ? [`the damaged pages ${damaged.slice(0, MOST_NAMED).join(', ')}`] : []
  if (damaged.length > MOST_NAMED) lost.push('and others')
  // The library finds no page behind a damaged one that stands in the same part of the document.
  if (damaged.includes(pages)) lost.push('and what comes after them')
  if (read < pages) lost.push(`pages ${read + 1} to ${pages}`)
  else if (text.length >= longest) lost.push('the end')
  return {
    text,
    ...(lost.length > 0 ? { cut: lost.join(', ') } : {}),
    ...(lacksWords ? { note: `some ${WITHOUT_TABLES}` } : {}),
  }
}

const MOST_NAMED = 10
/** Said about the words of a PDF that only names the tables of their characters. */
const WITHOUT_TABLES =
  'words are in Chinese, Japanese or Korean fonts that cannot be read here; pictures of its pages can'

function withoutText(pages: number, all: number): string {
  const where =
    pages < all ? ` on its first pages, of ${all}` : `, ${all === 1 ? 'a page' : `${all} pages`} of pictures`
  return `a PDF without text${where}`
}

const OTHER_PICTURE = /^image\/(?:hei[cf]|avif|tiff|bmp|x-icon|jxl|jp2|jxr|vnd\.adobe\.photoshop)\b/

function reasonOf(mime: string, kind: ArrivedFile['kind']): string {
  if (kind === 'sticker') return 'it moves'
  if (mime === 'application/octet-stream') return 'of no known type'
  return `of the type ${mime}${OTHER_PICTURE.test(mime) ? '; as JPEG or PNG it can be shown' : ''}`
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
