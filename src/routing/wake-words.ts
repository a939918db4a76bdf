const MOST_CHARACTERS = 4_000

/** A name that addresses the agent, ready to be looked for. */
export interface WakeWord {
  /** The word as configured, for the trace. */
  readonly word: string
  readonly folded: string
}

export function compileWakeWords(words: readonly string[]): readonly WakeWord[] {
  return words.map((word) => ({ word, folded: fold(word).replace(/\s+/g, ' ') }))
}

/**
 * The first of the words that stands in the text as a whole word, anywhere, without regard to case, to how its letters
 * are composed and to invisible characters. A word inside a link, a file name or an address is none. Nothing of the
 * configuration becomes a pattern, and only the beginning of a long text is looked at.
 */
export function findWakeWord(text: string, words: readonly WakeWord[]): string | undefined {
  const folded = fold(text.slice(0, MOST_CHARACTERS).replace(LINK, ' / ')).replace(/\s+/g, ' ')
  return words.find(({ folded: word }) => standsIn(folded, word))?.word
}

/** Pasted links are not the sender's own words, whatever characters stand around the words in them. */
const LINK = /https?:\/\/\S+/gi

/** Upper case knows that ß is SS, and has one sigma. What nobody sees separates and joins nothing. */
function fold(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .normalize('NFC')
}

function standsIn(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length
    if (!isGlued(before(text, at), word) && !isGlued(after(text, end), word)) return true
  }
  return false
}

/** A letter, mark, digit or underscore; or a character that joins parts of a name, with one of those behind it. */
const GLUE = /^[@/.-]?[\p{L}\p{M}\p{N}_]/u
/** Scripts written without spaces: what stands beside a word says nothing there. */
const UNSPACED =
  /^[@/.-]?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30FC]/u

function isGlued(neighbour: string, word: string): boolean {
  return GLUE.test(neighbour) && !(UNSPACED.test(neighbour) && UNSPACED.test(word))
}

/** The characters before a place, nearest first. */
function before(text: string, at: number): string {
  return [...text.slice(Math.max(0, at - 4), at)].slice(-2).reverse().join('')
}

function after(text: string, end: number): string {
  return text.slice(end, end + 4)
}
