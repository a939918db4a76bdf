import { existsSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import { runWorker } from '../platform/run-worker.ts'
import type { PdfJob, PdfText } from './pdf-worker.ts'

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
): Promise<PdfText | undefined> {
  const over = new AbortController()
  const cancel = clock.after(withinMs, () => over.abort())
  const data: PdfJob = { bytes, longest, untilMs: pagesMs }
  try {
    const run = { data, limits: LIMITS, signal: AbortSignal.any([signal, over.signal]) }
    return (await runWorker(workerFile(), run)) as PdfText
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

/** The worker is a file of the build. From the sources, as in a test, it is the one of the last build. */
function workerFile(): URL {
  const beside = new URL('./pdf-worker.js', import.meta.url)
  return existsSync(beside) ? beside : new URL('../../dist/pdf-worker.js', import.meta.url)
}
