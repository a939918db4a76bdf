import { cutText, type Run, type StyledText, spellsOut } from './document.ts'
import type { Passage } from './lay-out-blocks.ts'

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

/** Counts text as a platform does towards its limit. */
export interface Ruler {
  /** Most units one part may have. */
  readonly limit: number
  /** `undefined`: only what is left after reading the markup counts, in UTF-16 units (Telegram). */
  readonly marks: Marks | undefined
}

/** For a platform that counts the raw message: what escapes and marks add. */
export interface Marks {
  /** Units of a text as it is escaped; never fewer than its UTF-16 length. */
  measure(text: string, inCode: boolean): number
  /** Units of the marks that open and close a run; of the whole text given, which may be its own address. */
  runOverhead(run: Run, text?: string): number
  /** Units of the marks that open and close a passage (fences, quote). */
  passageOverhead(passage: Passage): number
}

/** Units a passage takes with its marks, or `Infinity` if it is sure to exceed `room`. */
function measurePassage(ruler: Ruler, passage: Passage, room: number): number {
  const length = passage.body.text.length
  if (ruler.marks === undefined) return length
  const overhead = ruler.marks.passageOverhead(passage)
  // Text is never measured shorter than it is, so a long one need not be walked.
  if (overhead + length > room) return Number.POSITIVE_INFINITY
  let used = overhead
  for (const stretch of stretches(passage.body)) used += stretchUnits(ruler.marks, passage, stretch)
  return used
}

/** Returns the number of UTF-16 units of the passage's text that fit into `room` units together with their marks. */
function fitPassage(ruler: Ruler, passage: Passage, room: number): number {
  const { marks } = ruler
  if (marks === undefined) return Math.min(Math.max(room, 0), passage.body.text.length)
  let left = room - marks.passageOverhead(passage)
  let fitted = 0
  for (const stretch of stretches(passage.body)) {
    const units = stretch.text.length > left ? Number.POSITIVE_INFINITY : stretchUnits(marks, passage, stretch)
    if (units > left) {
      const inner = left - (stretch.run === undefined ? 0 : marks.runOverhead(stretch.run))
      const fits = (text: string) => marks.measure(text, passage.kind === 'code') <= inner
      return fitted + longestBeginning(stretch.text.slice(0, Math.max(0, inner)), fits)
    }
    left -= units
    fitted += stretch.text.length
  }
  return fitted
}

interface Stretch {
  readonly text: string
  readonly run: Run | undefined
}

function stretchUnits(marks: Marks, passage: Passage, stretch: Stretch): number {
  const overhead = stretch.run === undefined ? 0 : marks.runOverhead(stretch.run, stretch.text)
  return overhead + marks.measure(stretch.text, passage.kind === 'code')
}

/** The text from run to run: styled stretches and the plain ones between them. */
function* stretches(body: StyledText): Generator<Stretch> {
  let at = 0
  for (const run of body.runs) {
    if (run.start > at) yield { text: body.text.slice(at, run.start), run: undefined }
    yield { text: body.text.slice(run.start, run.end), run }
    at = run.end
  }
  if (at < body.text.length) yield { text: body.text.slice(at), run: undefined }
}

/** Length of the longest beginning of `text` that fits, by halving. */
function longestBeginning(text: string, fits: (text: string) => boolean): number {
  let length = 0
  let over = text.length + 1
  while (over - length > 1) {
    const middle = (length + over) >> 1
    if (fits(text.slice(0, middle))) length = middle
    else over = middle
  }
  return length
}

/** The kind of cut a reader sees at an offset; finer than a line only if needed. */
type CutKind = 'paragraph' | 'line' | 'sentence' | 'word'

/** Enough to hold any emoji sequence or letter with its marks; longer ones are not worth looking for. */
const GRAPHEME_WINDOW = 256

let graphemes: Intl.Segmenter | undefined

/**
 * The last offset in (`least`, `most`] where a cut of this kind falls, or 0. The white space at the cut stands behind
 * it. Cost is linear in the distance looked at.
 */
function findCut(text: string, kind: CutKind, least: number, most: number): number {
  switch (kind) {
    case 'paragraph':
      return above(text.lastIndexOf('\n\n', most), least)
    case 'line':
      return above(text.lastIndexOf('\n', most), least)
    case 'sentence':
      return lastWhere(text, least, most, endsSentence)
    case 'word':
      return lastWhere(text, least, most, endsWord)
  }
}

/**
 * The last offset up to `most` between two graphemes, and always at least one: never inside a surrogate pair, and
 * inside an emoji sequence or a letter with marks only where that alone is longer than the window.
 */
function cutInsideWord(text: string, most: number): number {
  const from = Math.max(0, most - GRAPHEME_WINDOW)
  const start = isLowSurrogate(text, from) ? from + 1 : from
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  const around = graphemes.segment(text.slice(start, most + GRAPHEME_WINDOW)).containing(most - start)
  const cut = start + (around?.index ?? most - start)
  if (cut > start) return cut
  const whole = isLowSurrogate(text, most) ? most - 1 : most
  return whole > 0 ? whole : Math.min(text.length, 2)
}

function above(found: number, least: number): number {
  return found > least ? found : 0
}

function lastWhere(text: string, least: number, most: number, ends: (text: string, at: number) => boolean): number {
  for (let at = Math.min(most, text.length - 1); at > least; at--) {
    if (ends(text, at)) return at
  }
  return 0
}

function endsWord(text: string, at: number): boolean {
  return isBreakable(text.charCodeAt(at)) && !isBreakable(text.charCodeAt(at - 1))
}

/** Behind a full stop (and what closes a quotation after it) stands a space; ideographic stops need none. */
function endsSentence(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  if ('。！？'.includes(before)) return true
  if (!isBreakable(text.charCodeAt(at))) return false
  return '.!?…:;'.includes(before) || ('"\')”’»]'.includes(before) && '.!?…'.includes(text[at - 2] ?? ' '))
}

/** Spaces a line may be broken at; a no-break space is none. */
function isBreakable(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x0a ||
    code === 0x09 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200b && code !== 0x2007)
  )
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}
