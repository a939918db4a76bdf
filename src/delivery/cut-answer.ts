import type { TextFormat } from '../channels/adapter.ts'
import type { RenderedPart } from '../core/outbound.ts'

/** A text as it would be sent whole, and the markup-free line below it. */
interface WholeAnswer {
  readonly text: string
  readonly end?: string
}

/** The search for the first cut ends this close to the exact place, in parts of a message. */
const EXACT_TO = 1 / 16

/**
 * Returns the parts of an answer, at most `maxParts`. A longer one ends at a line or a word, with a mark as its last
 * line; the shorter text is split anew, so that no markup is torn. Pure.
 */
export function partsOf(format: TextFormat, { text, end }: WholeAnswer, maxParts: number): readonly RenderedPart[] {
  const whole = joined(format, text, end)
  if (whole.length <= maxParts) return whole
  const last = end === undefined ? mark(maxParts) : `${mark(maxParts)}${GAP}${end}`
  const cut = (length: number): readonly RenderedPart[] => joined(format, upTo(text, length), last)
  let kept = cut(0)
  let [least, greatest] = [0, Math.ceil((text.length * (maxParts + 1)) / whole.length) + format.limit]
  while (greatest - least > format.limit * EXACT_TO) {
    const length = Math.floor((least + greatest) / 2)
    const parts = cut(length)
    if (parts.length > maxParts) greatest = length
    else [least, kept] = [length, parts]
  }
  return kept.slice(0, maxParts)
}

function mark(maxParts: number): string {
  const messages = maxParts === 1 ? 'one message' : `${maxParts} messages`
  return `… cut after ${messages}; the history of this conversation has the whole`
}

/** Returns the text up to a line break if there is one nearby, else up to a word, and never cuts a character. */
function upTo(text: string, length: number): string {
  const shorter = text.slice(0, length)
  const least = length / 2
  const at = ['\n', ' '].map((mark) => shorter.lastIndexOf(mark)).find((index) => index > least)
  return at === undefined ? shorter.replace(/[\ud800-\udbff]$/, '') : shorter.slice(0, at)
}

/**
 * Puts a line below a text, in the last message of the text if both fit there. They are rendered apart, so that a code
 * block that was cut off does not swallow the line.
 */
function joined(format: TextFormat, text: string, below: string | undefined): readonly RenderedPart[] {
  const parts = text.trim() === '' ? [] : format.split(text)
  const line = below === undefined ? [] : format.split(below)
  const last = parts.at(-1)
  const [first, ...rest] = line
  const both = last && first && withLine(last, first, format.limit)
  return both === undefined ? [...parts, ...line] : [...parts.slice(0, -1), both, ...rest]
}

/** Returns a part with another below it, both rendered; undefined if they do not fit into one message. */
export function withLine(above: RenderedPart, below: RenderedPart, limit: number): RenderedPart | undefined {
  if (above.plain.length + GAP.length + below.plain.length > limit) return undefined
  const put = ({ text, plain }: Pick<RenderedPart, 'text' | 'plain'>) => ({
    text: text + GAP + below.text,
    plain: plain + GAP + below.plain,
  })
  const { markup, quoting } = above
  return { ...put(above), markup, ...(quoting ? { quoting: { ...put(quoting), of: quoting.of } } : {}) }
}

const GAP = '\n\n'
