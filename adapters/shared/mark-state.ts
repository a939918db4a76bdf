import StateInline, { type Scanned } from 'markdown-it/lib/rules_inline/state_inline.mjs'

const UNDERSCORE = 0x5f

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
/** Names of Python and of C that are written between pairs of underscores, and any name that code follows. */
const DUNDER =
  /__(?:(?:init|main|name|file|doc|dict|class|str|repr|call|new|del|len|iter|next|enter|exit|all|version|author|getitem|setitem|delitem|contains|getattr|setattr|eq|ne|lt|le|gt|ge|hash|bool|add|sub|mul|slots|module|path|package|import|pycache|tests?|mocks|snapshots|proto|typename|FILE|LINE|DATE|TIME|FUNCTION|VERSION)__(?!\w)|\w{1,40}?__(?=[([/=]|\.\w))/y
const LONGEST_DUNDER = 44
/** Signs of ASCII that emphasis by underscores may follow; any other stands before a name, a path or in a face. */
const BEFORE_EMPHASIS = new Set(' \t\n([{"\'*~')

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
  readonly #found = new Map<string, { readonly from: number; readonly at: number }>()
  #lower: string | undefined
  #word = { from: 0, to: 0, coded: false }

  override scanDelims(start: number, canSplitWord: boolean): Scanned {
    const marker = this.src.charCodeAt(start)
    let end = start
    while (end < this.posMax && this.src.charCodeAt(end) === marker) end++
    const length = end - start
    const none = { can_open: false, can_close: false, length }
    const sides = sidesOf(this.src, start, end < this.posMax ? end : this.src.length)
    if (NAMED.has(sides.prev + sides.next) || sides.next === '\ufe0f' || sides.next === '\u20e3') return none
    if (!canSplitWord) return this.#underscores(sides, start, end)
    return {
      can_open: sides.left && opensAsMark(this.src, sides, start, end),
      can_close: closesAsMark(this.src, sides, start, end),
      length,
    }
  }

  #underscores(sides: Sides, start: number, end: number): Scanned {
    const length = end - start
    if (length === 2 && isDunder(this.src, start, end)) return { can_open: false, can_close: false, length }
    return {
      can_open: sides.left && (!sides.right || PUNCTUATION.test(sides.prev)) && isBeforeEmphasis(sides.prev),
      can_close: sides.right && (!sides.left || PUNCTUATION.test(sides.next)) && sides.next !== '@',
      length,
    }
  }

  /** Returns whether emphasis by this mark was begun and not yet ended. */
  hasOpen(marker: number): boolean {
    let open = 0
    for (const delimiter of this.delimiters.slice(-LOOKED_AT)) {
      if (delimiter.marker !== marker) continue
      if (delimiter.close && open > 0) open--
      else if (delimiter.open) open++
    }
    return open > 0
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
   * Returns whether the word at `pos` is a path, an expression or a command: one with a backslash before a letter or
   * digit. No backslash in such a word is an escape.
   */
  isCoded(pos: number): boolean {
    if (pos < this.#word.from || pos >= this.#word.to) {
      let from = pos
      while (from > 0 && isGraphic(this.src.charCodeAt(from - 1))) from--
      let to = pos + 1
      while (to < this.src.length && isGraphic(this.src.charCodeAt(to))) to++
      this.#word = { from, to, coded: /\\[A-Za-z0-9]/.test(this.src.slice(from, to)) }
    }
    return this.#word.coded
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

/** A star or tilde opens unless it belongs to a sum, a glob, a path or a pointer. */
function opensAsMark(src: string, { prev, next }: Sides, start: number, end: number): boolean {
  const single = end - start === 1
  if (')]}'.includes(prev)) return false
  if (prev === '/' && src[start - 2] !== src[start]) return false
  if ((single ? '/.,;:)]}!?%=' : ',;)]}=').includes(next)) return false
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
  if (end - start === 1) return right && prev !== '/' && (next !== '/' || src[end + 1] === src[start])
  return right || (PUNCTUATION.test(prev) && !'([{<'.includes(prev))
}

function isBeforeEmphasis(character: string): boolean {
  return character > '\x7f' || BEFORE_EMPHASIS.has(character)
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
