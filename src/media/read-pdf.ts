import type { Clock } from '../core/clock.ts'
import { askWorker } from '../platform/run-worker.ts'
import type { LockedPdf, PdfJob, PdfText } from './pdf-worker.ts'

interface Reading {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Characters of text that are wanted. */
  readonly longest: number
  readonly withinMs?: number
  /** No further page is begun after so long. */
  readonly pagesMs?: number
}

const WITHIN_MS = 15_000
const PAGES_MS = 8_000
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

/**
 * Returns the text of a PDF. It is read in a worker of its own, with bounds of time and memory: a few bytes of it may
 * unpack to gigabytes. Undefined for one that cannot be read within them.
 */
export async function readPdf(
  bytes: Uint8Array,
  { clock, signal, longest, withinMs = WITHIN_MS, pagesMs = PAGES_MS }: Reading,
): Promise<PdfText | LockedPdf | undefined> {
  const data: PdfJob = { bytes, longest, untilMs: pagesMs }
  return (await askWorker('pdf-worker.js', { data, limits: LIMITS, clock, withinMs, signal })) as
    | PdfText
    | LockedPdf
    | undefined
}
