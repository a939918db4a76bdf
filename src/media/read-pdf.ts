import type { Clock } from '../core/clock.ts'
import { builtFile, runChild } from '../platform/run-child.ts'

/** `read`: the pages that were come to; `damaged`: the numbers of those that have no text for that reason. */
export interface PdfText {
  readonly text: string
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
    const written = await runChild(builtFile('pdf-child.js'), {
      ...{ args: [String(longest), String(pagesMs)], input: bytes, heapMb: HEAP_MB },
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
  const [read = 0, pages = 0, ...damaged] = written.slice(0, end).split(' ').map(Number)
  return { text: written.slice(end + 1), read, pages, damaged }
}
