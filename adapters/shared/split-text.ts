import { cutText, type Run, type StyledText, spellsOut } from './document.ts'
import { type CutKind, cutInsideWord, findCut } from './find-cut.ts'
import type { Passage } from './lay-out-blocks.ts'
import { fitPassage, measurePassage, type Ruler } from './measure.ts'

/** A part ends at a nicer place only if that leaves it this full: nicety must not multiply messages. */
const FULL = 0.8
/** A code block or table that fits into one part is kept whole at the price of a part only this full. */
const HALF = 0.5

/**
 * Marks that take more of a part than this leave its text no room: each part would have all of them and a letter or
 * two.
 */
const MOST_MARKS = 0.5

/** Passages that go out as one message. */
export type Part = readonly Passage[]

/**
 * Deals passages out to parts within the ruler's limit, in order, each part as full as niceness allows. Cut is, in this
 * order: between blocks, between lines, sentences, words, and inside a word only if it alone exceeds a part. White
 * space at a cut is dropped, nothing else ever is. A cut code block continues as a code block; a cut table repeats its
 * header. An address too long to hide behind its label in a part stands behind it, as text. No library
 * cuts so that no markup is torn (decision 0017).
 */
export function splitPassages(passages: readonly Passage[], ruler: Ruler): readonly Part[] {
  const waiting = passages.map((passage) => spellLongAddresses(passage, ruler)).reverse()
  const parts: Part[] = []
  let open = new OpenPart()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const room = ruler.limit - open.used - open.gapTo(next)
    const units = measurePassage(ruler, next, room)
    if (units <= room) {
      open.add(next, units)
      continue
    }
    const { part, rest } = breakPart(open, next, ruler)
    parts.push(part)
    for (const passage of rest.toReversed()) waiting.push(passage)
    open = new OpenPart()
  }
  return open.passages.length === 0 ? parts : [...parts, open.passages]
}

function spellLongAddresses(passage: Passage, { limit, marks }: Ruler): Passage {
  const isLong = (run: Run) => run.href !== undefined && (marks?.runOverhead(run) ?? 0) > limit * MOST_MARKS
  return passage.body.runs.some(isLong) ? { ...passage, body: spellAddresses(passage.body, isLong) } : passage
}

/** Runs that share one address get it once, behind the last of them. */
function spellAddresses(source: StyledText, isLong: (run: Run) => boolean): StyledText {
  const runs: Run[] = []
  let text = ''
  let at = 0
  for (const [index, run] of source.runs.entries()) {
    const start = text.length + run.start - at
    text += source.text.slice(at, run.end)
    at = run.end
    const long = isLong(run)
    runs.push({ start, end: text.length, style: run.style, href: long ? undefined : run.href })
    const next = source.runs[index + 1]
    const goesOn = next?.href === run.href && next?.start === run.end
    if (long && !goesOn && !spellsOut(source.text.slice(run.start, run.end), run.href ?? '')) text += ` (${run.href})`
  }
  return { text: text + source.text.slice(at), runs }
}

class OpenPart {
  readonly passages: Passage[] = []
  /** Units used once so many passages are in. */
  readonly #fills = [0]

  get used(): number {
    return this.fillAt(this.passages.length)
  }

  fillAt(count: number): number {
    return this.#fills[count] ?? 0
  }

  gapTo(next: Passage): number {
    return this.passages.length === 0 ? 0 : next.gap.length
  }

  add(passage: Passage, units: number): void {
    this.#fills.push(this.used + this.gapTo(passage) + units)
    this.passages.push(passage)
  }
}

interface Broken {
  readonly part: Part
  readonly rest: readonly Passage[]
}

/** The part is full and `next` does not fit: decides where it ends. Either a passage or a character goes out. */
function breakPart(open: OpenPart, next: Passage, ruler: Ruler): Broken {
  const whole = measurePassage(ruler, next, ruler.limit) <= ruler.limit
  const border = blockBorder(open, next, { limit: ruler.limit, whole })
  if (border > 0) return breakBefore(open, next, border)
  const full = Math.ceil(ruler.limit * FULL)
  const fits = fitPassage(ruler, next, ruler.limit - open.used - open.gapTo(next))
  const least = Math.max(full - open.used, next.header.length)
  const line = firstCut(next, ['paragraph', 'line'], least, fits)
  if (line > 0) return breakInside(open, next, line)
  const last = lastBorder(open)
  if (last > 0 && open.used >= full) return breakBefore(open, next, last)
  const words =
    next.kind === 'code' ? 0 : firstCut(next, ['sentence'], least, fits) || firstCut(next, ['word'], 0, fits)
  if (words > 0) return breakInside(open, next, words)
  // A single character may be a surrogate pair.
  if (last > 0 && (whole || open.used >= ruler.limit * HALF || fits < 2)) return breakBefore(open, next, last)
  const anyLine = firstCut(next, ['line'], next.header.length, fits)
  if (anyLine > 0) return breakInside(open, next, anyLine)
  if (last > 0 && next.header !== '') return breakBefore(open, next, last)
  return breakInside(open, { ...next, header: '' }, cutInsideWord(next.body.text, fits))
}

/**
 * Returns the number of passages after which the part may end between blocks and full enough; 0 if there is no such
 * place.
 */
function blockBorder(open: OpenPart, next: Passage, fit: { limit: number; whole: boolean }): number {
  for (let count = open.passages.length; count > 0 && open.fillAt(count) >= fit.limit * HALF; count--) {
    const above = open.passages[count - 1]
    const below = open.passages[count] ?? next
    const least = below === next && below.kind === 'code' && fit.whole ? HALF : FULL
    if (above !== undefined && isBlockBorder(above, below) && open.fillAt(count) >= fit.limit * least) return count
  }
  return 0
}

function isBlockBorder(above: Passage, below: Passage): boolean {
  return !above.heading && (below.gap.length > 1 || above.kind === 'code' || below.kind === 'code')
}

/**
 * Returns the number of passages after which the part may end without a heading as its last; all of them if there are
 * only headings.
 */
function lastBorder(open: OpenPart): number {
  const last = open.passages.findLastIndex((passage) => !passage.heading)
  return last < 0 ? open.passages.length : last + 1
}

function breakBefore(open: OpenPart, next: Passage, count: number): Broken {
  return { part: open.passages.slice(0, count), rest: [...open.passages.slice(count), next] }
}

/** The first kind of cut that can be had in (`least`, `most`], or 0. */
function firstCut(passage: Passage, kinds: readonly CutKind[], least: number, most: number): number {
  for (const kind of kinds) {
    const cut = findCut(passage.body.text, kind, Math.max(least, 0), most)
    if (cut > 0) return cut
  }
  return 0
}

function breakInside(open: OpenPart, next: Passage, at: number): Broken {
  const { text } = next.body
  const [until, from] = next.kind === 'code' ? [at, text[at] === '\n' ? at + 1 : at] : trimAround(text, at)
  const head = cutText(next.body, until)[0]
  const tail = cutText(next.body, from)[1]
  return {
    part: head.text === '' ? open.passages : [...open.passages, { ...next, body: head }],
    rest: tail.text === '' ? [] : [{ ...next, body: { ...tail, text: next.header + tail.text } }],
  }
}

/** White space at a cut goes, but the indent of a line that begins behind it stays. */
function trimAround(text: string, at: number): readonly [number, number] {
  let until = at
  while (until > 0 && isSpace(text, until - 1)) until--
  let from = at
  for (let next = at; next < text.length && isSpace(text, next); next++) {
    if (text[next] === '\n' || text[at] !== '\n') from = next + 1
  }
  return [until, from]
}

function isSpace(text: string, at: number): boolean {
  return ' \t\n'.includes(text[at] ?? '')
}
