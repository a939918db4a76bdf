import { foldText } from './fold-text.ts'

/** Words in a row by which a text is known to repeat another. */
const RUN = 5
/** Shorter texts and codes are said by anybody. */
const SHORTEST_TEXT = 16
const SHORTEST_CODE = 8
const SHORTEST_NUMBER = 10
/** Characters of one text that are looked at. */
const LONGEST = 20_000

/**
 * Texts that are to be forgotten, in a form by which a repetition is found: five words in a row, a whole short text,
 * and what looks like a code, a number or an address.
 */
export interface Telling {
  readonly runs: ReadonlySet<string>
  readonly texts: ReadonlySet<string>
  readonly codes: ReadonlySet<string>
}

export class Tellings implements Telling {
  readonly runs = new Set<string>()
  readonly texts = new Set<string>()
  readonly codes = new Set<string>()

  add(text: string): void {
    const words = wordsOf(text)
    for (const run of runsOf(words)) this.runs.add(run)
    const whole = words.join(' ')
    if (words.length < RUN && whole.length >= SHORTEST_TEXT) this.texts.add(whole)
    for (const word of words) if (isCode(word)) this.codes.add(word)
  }
}

/** Returns whether a text repeats some of those that are to be forgotten, word for word. */
export function repeats({ runs, texts, codes }: Telling, text: string): boolean {
  if (text === '' || runs.size + texts.size + codes.size === 0) return false
  const words = wordsOf(text)
  if (words.some((word) => codes.has(word))) return true
  if (runs.size > 0) for (const run of runsOf(words)) if (runs.has(run)) return true
  if (texts.size === 0) return false
  const whole = words.join(' ')
  return [...texts].some((one) => whole.includes(one))
}

function wordsOf(text: string): readonly string[] {
  return foldText(text.slice(0, LONGEST)).match(/[\p{L}\p{N}][\p{L}\p{N}._@+:/-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? []
}

function* runsOf(words: readonly string[]): Generator<string> {
  for (let at = 0; at + RUN <= words.length; at++) yield words.slice(at, at + RUN).join(' ')
}

function isCode(word: string): boolean {
  if (word.length < SHORTEST_CODE || !/\p{N}/u.test(word)) return false
  return /[\p{L}@]/u.test(word) || word.length >= SHORTEST_NUMBER
}
