import type { Clock } from '../core/clock.ts'
import type { FileReading } from '../core/message.ts'
import { builtFile, runChild } from '../platform/run-child.ts'

/** `read`: the pages that were come to; `damaged`: the numbers of those that have no text for that reason. */
export interface PdfText {
  readonly text: string
  /** Words of it are in fonts of East Asia that cannot be read. */
  readonly lacksWords: boolean
  readonly read: number
  readonly pages: number
  readonly damaged: readonly number[]
}

/** The answer about a document that only a password opens. */
export interface LockedPdf {
  readonly locked: true
}

interface Reading {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Characters of text that are wanted. */
  readonly longest: number
  readonly withinMs?: number
  /** No further page is begun after so long: of a long document the first pages are better than none. */
  readonly pagesMs?: number
}

const WITHIN_MS = 15_000
const PAGES_MS = 8_000
const HEAP_MB = 256
/** Bytes of the numbers of damaged pages. */
const MOST_NUMBERS = 1_000_000

/**
 * Returns the text of a PDF. It is read in a process of its own, with bounds of time and memory: a few bytes of it may
 * unpack to gigabytes. Undefined for one that cannot be read within them.
 */
export async function readPdf(
  bytes: Uint8Array,
  { clock, signal, longest, withinMs = WITHIN_MS, pagesMs = PAGES_MS }: Reading,
): Promise<PdfText | LockedPdf | undefined> {
  try {
    const written = await runChild(builtFile('document-child.js'), {
      ...{ args: ['pdf', String(longest), String(pagesMs)], input: bytes, heapMb: HEAP_MB },
      ...{ mostBytes: 4 * longest + MOST_NUMBERS, clock, withinMs, signal },
    })
    return answerIn(written.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Returns the answer that the process wrote: `locked`, or a line of numbers and the text behind it. */
function answerIn(written: string): PdfText | LockedPdf {
  if (written === 'locked') return { locked: true }
  const end = written.indexOf('\n')
  const [read = 0, pages = 0, unread, ...damaged] = written.slice(0, end).split(' ').map(Number)
  return { text: written.slice(end + 1), lacksWords: unread === 1, read, pages, damaged }
}

/** Documents that are archives, by their types; some archives are documents whose type is not seen at once. */
const OFFICE =
  /^application\/(?:zip$|rtf$|epub\+zip$|vnd\.(?:openxmlformats-officedocument|oasis\.opendocument|ms-(?:word|excel|powerpoint)\..*macroenabled))/i

/** Returns true for a document of an office program, an e-book or an archive, each of which a process reads. */
export function isOffice(mime: string): boolean {
  return OFFICE.test(mime)
}

/**
 * Returns what a model is shown of a document of an office program: its text with marks for headings, lists and rows.
 * It is read like a PDF, within the same bounds. Of an archive that is no document the names in it are shown. Undefined
 * for one that cannot be read.
 */
export async function readOffice(
  bytes: Uint8Array,
  { clock, signal, longest, withinMs = WITHIN_MS, pagesMs = PAGES_MS }: Reading,
): Promise<FileReading | undefined> {
  try {
    const written = await runChild(builtFile('document-child.js'), {
      ...{ args: ['office', String(longest), String(pagesMs)], input: bytes, heapMb: HEAP_MB },
      ...{ mostBytes: 4 * longest + MOST_NUMBERS, clock, withinMs, signal },
    })
    return officeReading(written.toString('utf8'))
  } catch {
    return undefined
  }
}

function officeReading(written: string): FileReading {
  const end = written.indexOf('\n')
  const [kind, ...words] = written.slice(0, end).split(' ')
  const text = written.slice(end + 1)
  if (kind === 'unread') return { unread: words.join(' ') }
  if (kind === 'names') return namesReading(text, Number(words[0]))
  if (text.trim() === '')
    return { unread: kind === 'cut' ? 'a document that took too long to read' : 'a document without text' }
  const note = words.join(' ')
  return { text, ...(kind === 'cut' ? { cut: 'the end' } : {}), ...(note === '' ? {} : { note }) }
}

const MOST_NAMES = 50

function namesReading(text: string, count: number): FileReading {
  if (count === 0) return { unread: 'an archive with nothing in it' }
  const names = text.split('\n').slice(0, MOST_NAMES)
  const note = `an archive that is not opened: ${count === 1 ? 'the name' : 'the names'} in it`
  return {
    text: names.join('\n'),
    note,
    ...(names.length < count ? { cut: `${count - names.length} more names` } : {}),
  }
}

/** Streams of a document in the binary format of old office programs, and what such a document is. */
const OLD_DOCUMENTS: readonly (readonly [string, string])[] = [
  ['EncryptedPackage', 'a document that only a password opens'],
  ['WordDocument', oldFormat('Word document (.doc)', '.docx')],
  ['Workbook', oldFormat('workbook (.xls)', '.xlsx')],
  ['Book', oldFormat('workbook (.xls)', '.xlsx')],
  ['PowerPoint Document', oldFormat('presentation (.ppt)', '.pptx')],
  ['__properties_version1.0', 'a saved e-mail (.msg), which cannot be read here; its text or a PDF can'],
]

function oldFormat(what: string, now: string): string {
  return `an old ${what}, which cannot be read here; saved as ${now} or PDF it can`
}

/** Returns what a file in the old binary format is, by the names of its streams; undefined for another one. */
export function oldDocument(mime: string, bytes: Uint8Array): string | undefined {
  if (mime !== 'application/x-cfb') return undefined
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return OLD_DOCUMENTS.find(([stream]) => file.includes(Buffer.from(`${stream}\0`, 'utf16le')))?.[1]
}
