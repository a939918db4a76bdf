import StateInline, { type Delimiter, type Scanned } from 'markdown-it/lib/rules_inline/state_inline.mjs'

const UNDERSCORE = 0x5f
const TILDE = 0x7e

/** Scripts that write without spaces, and their punctuation: a mark beside them stands at the border of a word. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u3000-\u303f\uff00-\uffef]/u
const PUNCTUATION = /[\p{P}\p{S}]/u
const LETTER = /\p{L}/u
/** A digit, or a letter of a script that has capitals: such words are not written together with their article. */
const CASED = /[\p{Lu}\p{Ll}\p{Lt}\p{N}]/u

/** A quote, a bracket or a slash on both sides of stars: they are named, as in `"*"` or `(*)`. */
const NAMED = new Set(['""', "''", '()', '[]', '{}', '<>', '//', '||', '\u201c\u201d', '\u2018\u2019'])
/** Letters behind an opening mark within a word, up to the closing one: a syllable, no power or product. */
const SYLLABLE = /[\p{L}\p{M}]{1,40}([*~])\1/uy
/** The words of an emphasis that ends within a word; anything else behind its opening mark is a program. */
const WORDS_BEHIND = /[*~][^*~=;(){}<>+/&|\n]+$/
const LONGEST_SYLLABLES = 80
/** A path between two stars pairs begins with a slash and ends with one, or has a star at once. */
const GLOB = /\/(?:\*|[^\s*]+\/\*)/y
/** A name of Python or C: one word in small letters between pairs of underscores, and any name that code follows. */
const DUNDER =
  /__(?:(?:[a-z][a-z0-9_]{0,39}?|FILE|LINE|DATE|TIME|FUNCTION|VERSION)__(?!\w)|\w{1,40}?__(?=[([/=]|\.\w))/y
const LONGEST_DUNDER = 44
/** Signs of ASCII that emphasis by underscores may follow; any other stands before a name, a path or in a face. */
const BEFORE_EMPHASIS = new Set(' \t\n([{"*~')

/** A path with its drive, a backslash before a letter or digit, or a repeat before a bracket. */
const CODED = /\\[A-Za-z0-9]|\b[A-Za-z]:\\|[.\])][*+]\??\)/
/** Backslashes that are no escapes of marks stay, and so do all others of their line. */
const CODED_LINE = /\\[A-Za-z0-9(){}%&]/
/** Code and formulas, which have rules of their own. */
const SET_APART = /`[^`]*`|\\\(.*?\\\)|(?<!\\)\$[^$]*[^$\\]\$/g

/** Before a mark: punctuation of code right behind a word, a quote that a program opens, a name that gets a value. */
const BEHIND_CODE = [
  /[^\s*_~\x80-\uffff][=,;&|^$%/.+]$|[-=]>$|[)\]}]$/,
  /[[{=,]["']$|\w\(["']$|"\s*:.*["']$|"""|\s--?\w[\w-]*[ =]["'][^"']*$/,
  /\w_\w* = $/,
]
/** Emphasis has letters in it, or is a number or an emoji; other characters between marks are a face or a form. */
const WORDS = /\p{L}|\p{Extended_Pictographic}|^[\s\d.,:%+-]*\d[\s\d.,:%+-]*$/u
const PARTNERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '"': '"' }
/** Most characters looked at around a mark. */
const LOOKED_ON = 200

/** Most delimiters looked through for an open one. */
const LOOKED_AT = 32

/**
 * Decides which marks are emphasis. Beyond CommonMark, marks work beside the punctuation of scripts without spaces and
 * beside quotes and brackets; sums, powers, globs, paths and names of programs keep their characters.
 */
export class MarkState extends StateInline {
  /** The library's own count of the labels around, which its types leave out. */
  declare readonly linkLevel: number
  /** The places of the closing tags of those that were opened. */
  readonly closers: number[] = []
  /** The place of the inside of an opening mark, by the number of its token. */
  readonly #insides = new Map<number, number>()
  readonly #found = new Map<string, { readonly from: number; readonly at: number }>()
  #lower: string | undefined
  #word = { from: 0, to: 0, coded: false }
  #line = { from: 0, to: 0, coded: false }

  override scanDelims(start: number, canSplitWord: boolean): Scanned {
    const marker = this.src.charCodeAt(start)
    let end = start
    while (end < this.posMax && this.src.charCodeAt(end) === marker) end++
    const length = end - start
    const none = { can_open: false, can_close: false, length }
    const sides = sidesOf(this.src, start, end < this.posMax ? end : this.src.length)
    if (NAMED.has(sides.prev + sides.next) || sides.next === '\ufe0f' || sides.next === '\u20e3') return none
    const scanned = canSplitWord ? starsOf(this.src, sides, start, end) : underscoresOf(this.src, sides, start, end)
    if (marker === TILDE) return scanned
    if (!canSplitWord || length === 1)
      scanned.can_open &&= !isBehindCode(this.src, start) && isWithin(this.src, start, end)
    scanned.can_close &&= this.#closesWords(start, end)
    if (scanned.can_open) {
      const token = this.tokens.length + (this.pending === '' ? 0 : 1)
      for (let index = 0; index < length; index++) this.#insides.set(token + index, end)
    }
    return scanned
  }

  /** Returns whether emphasis by this mark was begun and not yet ended. */
  hasOpen(marker: number): boolean {
    return this.countOpen(marker) > 0
  }

  /** Returns the number of marks of this kind whose emphasis has not ended. */
  countOpen(marker: number): number {
    return this.#open(marker).length
  }

  #open(marker: number): Delimiter[] {
    const open: Delimiter[] = []
    for (const delimiter of this.delimiters.slice(-LOOKED_AT)) {
      if (delimiter.marker !== marker) continue
      if (delimiter.close && open.length > 0) open.pop()
      else if (delimiter.open) open.push(delimiter)
    }
    return open
  }

  /** Returns whether these marks end emphasis that was begun by as many: one and two are different emphasis. */
  #closesWords(start: number, end: number): boolean {
    const length = end - start
    const marker = this.src.charCodeAt(start)
    const opener = this.#open(marker).at(-1)
    const from = this.#insides.get(opener?.token ?? -1)
    if (opener === undefined || from === undefined || length + opener.length === 3) return false
    return (length > 1 && marker !== UNDERSCORE) || WORDS.test(this.src.slice(from, Math.min(start, from + LOOKED_ON)))
  }

  /**
   * Returns where a text next stands at or behind `from`, in any case of letters; -1 if nowhere. Asked with rising
   * places, it looks through the source once.
   */
  find(text: string, from: number): number {
    const known = this.#found.get(text)
    if (known !== undefined && from >= known.from && (known.at === -1 || known.at >= from)) return known.at
    this.#lower ??= this.src.toLowerCase()
    const at = (this.#lower.length === this.src.length ? this.#lower : this.src).indexOf(text, from)
    this.#found.set(text, { from, at })
    return at
  }

  /**
   * Returns whether the word at `pos` is a path or an expression, or stands in a line with a backslash before a letter
   * or a bracket. No backslash there is an escape.
   */
  isCoded(pos: number): boolean {
    if (pos < this.#word.from || pos >= this.#word.to) {
      let from = pos
      while (from > 0 && isGraphic(this.src.charCodeAt(from - 1))) from--
      let to = pos + 1
      while (to < this.src.length && isGraphic(this.src.charCodeAt(to))) to++
      this.#word = { from, to, coded: CODED.test(this.src.slice(from, to)) }
    }
    return this.#word.coded || this.#isCodedLine(pos)
  }

  #isCodedLine(pos: number): boolean {
    if (pos < this.#line.from || pos >= this.#line.to) {
      const from = pos === 0 ? 0 : this.src.lastIndexOf('\n', pos - 1) + 1
      const end = this.src.indexOf('\n', pos)
      const to = end === -1 ? this.src.length : end + 1
      this.#line = { from, to, coded: CODED_LINE.test(this.src.slice(from, to).replace(SET_APART, '')) }
    }
    return this.#line.coded
  }
}

interface Sides {
  readonly prev: string
  readonly next: string
  /** CommonMark's left-flanking and right-flanking, with scripts without spaces in mind. */
  readonly left: boolean
  readonly right: boolean
}

function sidesOf(src: string, start: number, end: number): Sides {
  const prev = characterBefore(src, start)
  const next = end < src.length ? String.fromCodePoint(src.codePointAt(end) ?? 0x20) : ' '
  const prevSpace = /\s/.test(prev)
  const nextSpace = /\s/.test(next)
  const prevMark = PUNCTUATION.test(prev)
  const nextMark = PUNCTUATION.test(next)
  return {
    prev,
    next,
    left: !nextSpace && (!nextMark || prevSpace || prevMark || UNSPACED.test(prev)),
    right: !prevSpace && (!prevMark || nextSpace || nextMark || UNSPACED.test(next)),
  }
}

function characterBefore(src: string, at: number): string {
  if (at === 0) return ' '
  const low = (src.charCodeAt(at - 1) & 0xfc00) === 0xdc00
  return src.slice(low && at > 1 ? at - 2 : at - 1, at)
}

function starsOf(src: string, sides: Sides, start: number, end: number): Scanned {
  return {
    can_open: sides.left && opensAsMark(src, sides, start, end),
    can_close: closesAsMark(src, sides, start, end),
    length: end - start,
  }
}

function underscoresOf(src: string, { prev, next, left, right }: Sides, start: number, end: number): Scanned {
  const length = end - start
  if (length === 2 && prev !== '*' && next !== '*' && isDunder(src, start, end))
    return { can_open: false, can_close: false, length }
  return {
    can_open: left && (!right || PUNCTUATION.test(prev)) && isBeforeEmphasis(prev, src[start - 2] ?? ' '),
    can_close: right && (!left || PUNCTUATION.test(next)) && next !== '@' && (next !== '/' || src[end + 1] === '_'),
    length,
  }
}

/** A star or tilde opens unless it belongs to a sum, a glob, a path or a pointer. */
function opensAsMark(src: string, { prev, next }: Sides, start: number, end: number): boolean {
  const single = end - start === 1
  if (')]}'.includes(prev)) return false
  if (prev === '/' && src[start - 2] !== src[start]) return false
  if ((single ? '/.,;:)]}!?%=^\u00b4' : ',;)]}=').includes(next)) return false
  if (single && next === '_' && src[end + 1] === src[start]) return false
  if (!single && matchesAt(GLOB, src, end)) return false
  if (!CASED.test(prev) || UNSPACED.test(next)) return true
  return !single && LETTER.test(prev) && LETTER.test(src[start - 2] ?? '') && matchesAt(SYLLABLE, src, end)
}

function closesAsMark(src: string, { prev, next, right }: Sides, start: number, end: number): boolean {
  if (isDigit(prev) && isDigit(next)) return false
  if (
    CASED.test(prev) &&
    CASED.test(next) &&
    !WORDS_BEHIND.test(src.slice(Math.max(0, start - LONGEST_SYLLABLES), start))
  )
    return false
  if (end - start === 1) return right && !'/([{<'.includes(prev) && (next !== '/' || src[end + 1] === src[start])
  return right || (PUNCTUATION.test(prev) && !'([{<'.includes(prev))
}

function isBehindCode(src: string, start: number): boolean {
  const before = src.slice(Math.max(0, start - LOOKED_ON), start)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const words = line.replace(/[*_~]{1,8}$/, '')
  return /[A-Za-z0-9]_$/.test(line) || BEHIND_CODE.some((code) => code.test(words))
}

/** Emphasis that begins right behind a bracket or a quote ends before the other one. */
function isWithin(src: string, start: number, end: number): boolean {
  let before = start - 1
  while (before > start - 4 && '*_~'.includes(src[before] ?? ' ')) before--
  const opener = src[before] ?? ''
  const partner = PARTNERS[opener]
  if (partner === undefined) return true
  let depth = 0
  for (let at = end; at < src.length && at < end + LOOKED_ON; at++) {
    if (src[at] === src[start]) return true
    if (src[at] === partner && depth-- === 0) return false
    if (src[at] === opener) depth++
  }
  return true
}

/** An apostrophe joins words; as a quote it stands around a name or a value. */
function isBeforeEmphasis(prev: string, before: string): boolean {
  return prev > '\x7f' || BEFORE_EMPHASIS.has(prev) || (prev === "'" && LETTER.test(before))
}

function isDunder(src: string, start: number, end: number): boolean {
  if (matchesAt(DUNDER, src, start)) return true
  for (let from = start - 3; from >= 0 && from > start - LONGEST_DUNDER; from--) {
    if (src.charCodeAt(from) === UNDERSCORE && src.charCodeAt(from + 1) === UNDERSCORE)
      return matchesAt(DUNDER, src, from) && DUNDER.lastIndex === end
  }
  return false
}

export function matchesAt(pattern: RegExp, src: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(src)
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}

function isGraphic(code: number): boolean {
  return code > 0x20 && code < 0x7f
}
