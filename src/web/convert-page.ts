import { existsSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { runWorker } from '../platform/run-worker.ts'
import type { Converted } from './html-to-markdown.ts'
import type { HtmlJob } from './html-worker.ts'
import { plainText, titleOf } from './plain-text.ts'

/** `plain`: it was too much for the converter, and this is its text without form. */
export type PageText = Converted & { readonly plain?: true }

interface Converting {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly withinMs?: number
}

const WITHIN_MS = 3_000
/** Characters of the Markdown that a worker hands over. */
const LONGEST = 1_000_000
/** A page within the limit of the door has a tree of up to twenty times its size, and most have far less of it. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

/**
 * Returns a page as Markdown. It is converted in a worker of its own, with bounds of time and memory: whoever wrote the
 * page may have made it to cost as much as it can. One that costs too much is returned as plain text. Throws `aborted`.
 */
export async function convertPage(html: string, base: string, converting: Converting): Promise<PageText> {
  if (converting.signal.aborted) throw new ParleyError('aborted', 'The page is no longer wanted.')
  const converted = await inWorker({ html, base, longest: LONGEST }, converting)
  if (converted !== undefined) return converted
  const title = titleOf(html)
  return { ...(title === undefined ? {} : { title }), markdown: plainText(html).slice(0, LONGEST), plain: true }
}

/** Resolves with undefined for a page that is beyond a bound. */
async function inWorker(
  data: HtmlJob,
  { clock, signal, withinMs = WITHIN_MS }: Converting,
): Promise<Converted | undefined> {
  const over = new AbortController()
  const cancel = clock.after(withinMs, () => over.abort())
  try {
    const run = { data, limits: LIMITS, signal: AbortSignal.any([signal, over.signal]) }
    return (await runWorker(workerFile(), run)) as Converted
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

/** The worker is a file of the build. From the sources, as in a test, it is the one of the last build. */
function workerFile(): URL {
  const beside = new URL('./html-worker.js', import.meta.url)
  return existsSync(beside) ? beside : new URL('../../dist/html-worker.js', import.meta.url)
}
