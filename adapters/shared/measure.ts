import type { Run, StyledText } from './document.ts'
import type { Passage } from './lay-out-blocks.ts'

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
export function measurePassage(ruler: Ruler, passage: Passage, room: number): number {
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
export function fitPassage(ruler: Ruler, passage: Passage, room: number): number {
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
