import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { askWorker } from '../platform/run-worker.ts'
import type { Converted } from './html-to-markdown.ts'
import type { HtmlJob } from './html-worker.ts'
import { plainPage } from './plain-text.ts'

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
/** Characters of a page that is read here, where everything else waits for it. */
const LONGEST_HERE = 100_000
/** A page within the limit of the door has a tree of up to twenty times its size, and most have far less of it. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

/**
 * Returns a page as Markdown. It is converted in a worker of its own, with bounds of time and memory: whoever wrote the
 * page may have made it to cost as much as it can. One that costs too much is returned as plain text. Throws `aborted`.
 */
export async function convertPage(
  html: string,
  base: string,
  { clock, signal, withinMs = WITHIN_MS }: Converting,
): Promise<PageText> {
  if (signal.aborted) throw new ParleyError('aborted', 'The page is no longer wanted.')
  const ask = async (plain: boolean): Promise<Converted | undefined> => {
    const data: HtmlJob = { html, base, longest: LONGEST, plain }
    const answer = await askWorker('html-worker.js', { data, limits: LIMITS, clock, withinMs, signal })
    return answer as Converted | undefined
  }
  const converted = await ask(false)
  if (converted !== undefined) return converted
  // Also that takes a second of a page that was made to cost, and no worker may be had at all.
  return { ...((await ask(true)) ?? plainPage(html.slice(0, LONGEST_HERE))), plain: true }
}
