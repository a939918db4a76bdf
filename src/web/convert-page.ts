import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { builtFile, runChild } from '../platform/run-child.ts'
import { type Converted, plainPage } from './plain-text.ts'

/** `plain`: it was too much for the converter, and this is its text without form. `cut`: of its beginning. */
export type PageText = Converted & { readonly plain?: true; readonly cut?: true }

interface Converting {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly withinMs?: number
  /** Default: a page of HTML. */
  readonly form?: 'page' | 'feed'
}

const WITHIN_MS = 3_000
/** Characters of the Markdown that the process hands over, each of at most four bytes, and of a title. */
const LONGEST = 1_000_000
const MOST_BYTES = 4 * (LONGEST + 10_000)
/** Characters of a page that is read here, where everything else waits for it. */
const LONGEST_HERE = 100_000
/** Elements and entities of a page; what is behind them is left out, for each costs up to a kilobyte. */
const MOST_MARKS = 50_000
const HEAP_MB = 96

/**
 * Returns a page as Markdown. It is converted in a process of its own, with bounds of time and memory: whoever wrote
 * the page may have made it to cost as much as it can, and a worker that is short of memory can end this process. One
 * that costs too much is returned as plain text. Throws `aborted`.
 */
export async function convertPage(page: string, base: string, converting: Converting): Promise<PageText> {
  if (converting.signal.aborted) throw new ParleyError('aborted', 'The page is no longer wanted.')
  const html = page.slice(0, endOfMarks(page))
  const short = html.length < page.length ? ({ cut: true } as const) : {}
  const input = Buffer.from(`${base}\n${html}`)
  const converted = await askChild(input, converting.form ?? 'page', converting)
  if (converted !== undefined) return { ...converted, ...short }
  // Also that takes a second of a page that was made to cost, and no process may be had at all.
  const plain = (await askChild(input, 'plain', converting)) ?? plainPage(html.slice(0, LONGEST_HERE))
  return { ...plain, plain: true, ...short }
}

/** Returns what the process makes of its input; undefined where nothing came of it. */
async function askChild(
  input: Uint8Array,
  form: 'page' | 'feed' | 'plain',
  { clock, signal, withinMs = WITHIN_MS }: Converting,
): Promise<Converted | undefined> {
  try {
    const written = await runChild(builtFile('html-child.js'), {
      ...{ args: [String(LONGEST), form], input, heapMb: HEAP_MB, mostBytes: MOST_BYTES },
      ...{ clock, withinMs, signal },
    })
    return convertedIn(written.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Returns the three lines that the process writes, and the Markdown behind them. */
function convertedIn(written: string): Converted {
  const lines: string[] = []
  let at = 0
  for (; lines.length < 3; at = written.indexOf('\n', at) + 1) lines.push(written.slice(at, written.indexOf('\n', at)))
  const [title = '', leadsOn = '', missing = ''] = lines
  const space = leadsOn.indexOf(' ')
  return {
    markdown: written.slice(at),
    ...(title === '' ? {} : { title }),
    ...(leadsOn === '' ? {} : { refresh: { seconds: Number(leadsOn.slice(0, space)), url: leadsOn.slice(space + 1) } }),
    ...(missing === '' ? {} : { missing }),
  }
}

/** Returns the place of the first mark beyond the most, or the length of the page. */
function endOfMarks(page: string): number {
  let marks = 0
  for (const { index } of page.matchAll(/<[a-z!]|&/gi)) if (marks++ === MOST_MARKS) return index
  return page.length
}

type Queued = () => Promise<unknown>

/**
 * Returns what runs one work at a time, by turns of those who have it done: whoever brings many waits with the second
 * until each of the others has had one.
 */
export function oneAtATime(): <Done>(whose: string, work: () => Promise<Done>) => Promise<Done> {
  const waiting = new Map<string, readonly Queued[]>()
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const [whose, [next, ...others]] = first
      waiting.set(whose, others)
      await next?.()
      // Behind a turn its holder is the last in line, with all that has come meanwhile.
      const left = waiting.get(whose) ?? []
      waiting.delete(whose)
      if (left.length > 0) waiting.set(whose, left)
    }
    running = false
  }

  return (whose, work) =>
    new Promise((resolve, reject) => {
      const queued: Queued = () => work().then(resolve, reject)
      waiting.set(whose, [...(waiting.get(whose) ?? []), queued])
      void run()
    })
}
