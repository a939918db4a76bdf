/** A place in a text: the line that it ends with, and the fence that it stands in. */
export interface Place {
  readonly line: string
  /** The mark that opened the block of code; empty outside of one. */
  readonly fence: string
}

export const BEGINNING: Place = { line: '', fence: '' }

/** Characters of a line that are looked at in front of a mark, and behind it. */
const MOST_OF_A_LINE = 400

const FENCE = /^[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]*)?(`{3,}|~{3,})(.*)$/

/** Returns the place behind a further part of the text. */
export function placeAfter({ line, fence }: Place, text: string): Place {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  if (lines.length === 0) return { line: (line + last).slice(-MOST_OF_A_LINE), fence }
  const whole = [line + (lines[0] ?? ''), ...lines.slice(1)]
  return { line: last.slice(-MOST_OF_A_LINE), fence: whole.reduce(fenceAfter, fence) }
}

function fenceAfter(fence: string, line: string): string {
  const [, mark, info = ''] = FENCE.exec(line) ?? []
  if (mark === undefined) return fence
  if (fence === '') return mark.startsWith('`') && info.includes('`') ? '' : mark
  return mark.startsWith(fence) && info.trim() === '' ? '' : fence
}

/** The part of a mark in its text. `undecided`: more of the text has to come. */
export type MarkStanding = 'undecided' | 'a mark' | 'quoted' | 'named'

interface Asked {
  /** The text behind the mark, as far as it has come. */
  readonly after: string
  /** Nothing follows any more. */
  readonly final: boolean
  /** The end of a thought has to come, so that doubt says that it is the mark. */
  readonly expected: boolean
}

/**
 * Decides whether a mark is meant as a mark, or is a word of a text about marks. It is such a word
 * - `quoted`: within quotation marks, as all that brackets hold, and in a span or a block of code, where the opening
 *   mark comes before it and the closing mark behind it in the same line;
 * - `named`: within a sentence, with a space before it that ends no sentence and, behind it, a word in small letters, a
 *   letter of a script without small letters, or the end of the sentence (`You close it with </think> and go on.`);
 *   or as the last word of an item of a list or of a line that ends with a colon.
 *
 * A mark that begins its line, or that touches the word before it, is no such word (`I should greet
 * them.</think>Hello.`).
 */
export function standingOf(place: Place, { after, final, expected }: Asked): MarkStanding {
  if (place.fence !== '') return 'quoted'
  const { line } = place
  const end = after.slice(0, MOST_OF_A_LINE + 1).indexOf('\n')
  const rest = after.slice(0, end < 0 ? MOST_OF_A_LINE : Math.min(end, MOST_OF_A_LINE))
  const whole = final || end >= 0 || after.length > MOST_OF_A_LINE
  const open = openQuotes(line)
  if (open.some((close) => rest.includes(close))) return 'quoted'
  if (!whole && (open.length > 0 || rest.trim() === '')) return 'undecided'
  return isNamed(line, rest, expected) ? 'named' : 'a mark'
}

const PAIRS = [
  ...['“”', '„“', '«»', '»«', '‹›', '「」', '『』', '‘’'].map((pair) => [pair.charAt(0), pair.charAt(1)] as const),
]

/** Returns the marks that would close the quotations and spans of code that are open at the end of a line. */
function openQuotes(line: string): readonly string[] {
  const count = (pattern: RegExp): number => line.match(pattern)?.length ?? 0
  return [
    ...(count(/`+/g) % 2 === 1 ? ['`'] : []),
    ...(count(/"/g) % 2 === 1 ? ['"'] : []),
    // Between letters it is an apostrophe.
    ...(count(/(?<![\p{L}\p{N}])'|'(?![\p{L}\p{N}])/gu) % 2 === 1 ? ["'"] : []),
    ...PAIRS.filter(([open, close]) => line.lastIndexOf(open) > line.lastIndexOf(close)).map(([, close]) => close),
    ...(line.endsWith('(') ? [')'] : []),
  ]
}

/** Also behind closing quotation marks, brackets, emphasis and an emoji. */
const ENDS_SENTENCE = /[.!?\u2026\u3002\uff01\uff1f\p{Extended_Pictographic}]\uFE0F?["'\u201d\u2019»)*_`\]]*\s*$/u
const ITEM = /(?:^\s*(?:[-*+\u2022>]|\d+[.)])|[:\uff1a|])\s+$/

function isNamed(line: string, rest: string, expected: boolean): boolean {
  if (line.trim() === '') return false
  if (rest.trim() === '') return ITEM.test(line)
  if (!/\s$/.test(line)) return false
  const ended = ENDS_SENTENCE.test(line)
  if (/^[.,;:!?)\]\u3002\uff0c\u3001]/.test(rest)) return !ended
  const [, word] = /^[ \t]+(.)/u.exec(rest) ?? []
  if (word === undefined) return false
  if (/\p{Ll}/u.test(word)) return !(ended && expected)
  return !ended && !expected && /[\p{L}\p{N}]/u.test(word)
}
