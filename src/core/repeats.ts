import { foldText } from './fold-text.ts'

/** Words in a row by which a text is known to repeat another. */
const RUN = 5
/** Shorter texts and codes are said by anybody. */
const SHORTEST_TEXT = 16
/** Texts that are shorter than that say nothing of anybody, even as they are: bytes. */
const SHORTEST_WHOLE = 4
const SHORTEST_CODE = 8
const SHORTEST_NUMBER = 10
/** Letters in a row of a script that has no spaces between words, in the place of words in a row. */
const LETTERS = 12

/** The time at which each was said first, in ms since the epoch. */
type Said = ReadonlyMap<string, number>

/**
 * Texts that are to be forgotten, in a form by which a repetition is found: five words in a row, as many letters as
 * these have where a script does not part them, a whole short text, and what looks like a code, a number or an address.
 */
export interface Telling {
  readonly runs: Said
  readonly texts: Said
  readonly codes: Said
  /** Whole texts that are too short to be known but behind the name of whoever said them, with these names. */
  readonly few: ReadonlyMap<string, Said>
  /** Those among them that have no words, such as emoji. */
  readonly signs: ReadonlySet<string>
  /** The first words of each, of which a title has some. */
  readonly beginnings: Said
}

export class Tellings implements Telling {
  readonly runs = new Map<string, number>()
  readonly texts = new Map<string, number>()
  readonly codes = new Map<string, number>()
  readonly few = new Map<string, Map<string, number>>()
  readonly signs = new Set<string>()
  readonly beginnings = new Map<string, number>()

  /** Adds a text with the names by which others are shown whose it is. */
  add(text: string, at: number, by: readonly string[] = []): void {
    const words = wordsOf(text)
    for (const run of runsOf(words)) note(this.runs, run, at)
    const whole = wholeOf(text, words)
    const isSign = words.length === 0
    if (isSign && whole !== '') this.signs.add(whole)
    if (words.length < RUN && !isSign && whole.length >= SHORTEST_TEXT) note(this.texts, whole, at)
    else if (words.length < RUN && bytesOf(whole) >= SHORTEST_WHOLE)
      for (const name of by) this.#noteFew(whole, name, at)
    for (const word of words) if (isCode(word)) note(this.codes, word, at)
    const beginning = words.slice(0, RUN).join(' ')
    if (beginning.length >= SHORTEST_TEXT) note(this.beginnings, beginning, at)
  }

  #noteFew(whole: string, name: string, at: number): void {
    const said = this.few.get(whole) ?? new Map<string, number>()
    this.few.set(whole, said)
    note(said, name, at)
  }
}

function note(said: Map<string, number>, words: string, at: number): void {
  said.set(words, Math.min(at, said.get(words) ?? at))
}

/**
 * Returns whether a text of that time repeats some of those that are to be forgotten, word for word. What was there
 * before them repeats nothing: else whoever says it after others would take it from them.
 */
export function repeats({ runs, texts, codes }: Telling, text: string, at: number): boolean {
  if (text === '' || runs.size + texts.size + codes.size === 0) return false
  const isLater = (said: number | undefined): boolean => said !== undefined && said <= at
  const words = wordsOf(text)
  if (words.some((word) => isLater(codes.get(word)))) return true
  if (runs.size > 0) for (const run of runsOf(words)) if (isLater(runs.get(run))) return true
  if (texts.size === 0) return false
  const whole = words.join(' ')
  return [...texts].some(([one, said]) => isLater(said) && whole.includes(one))
}

/**
 * Returns whether a text that shows one message has one of these, however short, and names whoever said it; `anyone`:
 * whoever it names.
 */
export function showsFew(
  { few, signs }: Telling,
  text: string,
  at: number,
  whose: 'named' | 'anyone' = 'named',
): boolean {
  if (few.size === 0) return false
  const words = wordsOf(text)
  const names = new Set<string>()
  const noteNames = (whole: string): void => {
    for (const [name, said] of few.get(whole) ?? []) if (said <= at) names.add(name)
  }
  for (const run of shortRunsOf(words)) noteNames(run)
  for (const sign of signs) if (text.includes(sign)) noteNames(sign)
  if (whose === 'anyone') return names.size > 0
  const whole = ` ${words.join(' ')} `
  return [...names].some((name) => {
    const named = wordsOf(name).join(' ')
    return named === '' ? text.includes(name) : whole.includes(` ${named} `)
  })
}

/** Returns whether a title is one of these as a whole, whoever said it, or the beginning of one where it is cut. */
export function isTitleOf({ few, beginnings }: Telling, title: string, at: number): boolean {
  if (few.size + beginnings.size === 0) return false
  const whole = wholeOf(title, wordsOf(title))
  if ([...(few.get(whole)?.values() ?? [])].some((said) => said <= at)) return true
  if (!CUT.test(title) || whole.length < SHORTEST_TEXT) return false
  for (const [one, said] of beginnings) if (said <= at && one.startsWith(whole)) return true
  return false
}

const CUT = /(?:\u2026|\.\.\.)$/

/**
 * The marks that platforms write for people, groups, channels and emoji. An id is no secret, and whatever speaks to the
 * bot names it. The name beside an id is bounded, so that a long text of such beginnings is looked through once.
 */
const MARKS = /<(?:@[!&]?|#|!subteam\^)(?:\d+|[A-Z][A-Z0-9]*)(?:\|[^>\n]{0,200})?>|<a?:\w+:\d+>/g

/** A word is bounded: the engine keeps a place to return to for each character, and throws where they are millions. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}._@+:/-]{0,99999}[\p{L}\p{N}]|[\p{L}\p{N}]/gu

function wordsOf(text: string): readonly string[] {
  return foldText(text.replace(MARKS, ' ')).match(WORD) ?? []
}

/** Returns a text as its words, or as its emoji where it has none. */
function wholeOf(text: string, words: readonly string[]): string {
  if (words.length > 0) return words.join(' ')
  return /\p{Extended_Pictographic}/u.test(text) ? text.replace(MARKS, ' ').trim() : ''
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

function* runsOf(words: readonly string[]): Generator<string> {
  for (let at = 0; at + RUN <= words.length; at++) yield words.slice(at, at + RUN).join(' ')
  for (const word of words)
    for (const [letters] of word.matchAll(UNPARTED))
      for (let at = 0; at + LETTERS <= letters.length; at++) yield letters.slice(at, at + LETTERS)
}

const UNPARTED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{N}]{12,}/gu

function* shortRunsOf(words: readonly string[]): Generator<string> {
  for (let at = 0; at < words.length; at++)
    for (let end = at + 1; end < at + RUN && end <= words.length; end++) yield words.slice(at, end).join(' ')
}

function isCode(word: string): boolean {
  if (word.length < SHORTEST_CODE || !/\p{N}/u.test(word)) return false
  return /[\p{L}@]/u.test(word) || word.length >= SHORTEST_NUMBER
}
