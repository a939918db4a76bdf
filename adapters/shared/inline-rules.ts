import type StateInline from 'markdown-it/lib/rules_inline/state_inline.mjs'
import type Token from 'markdown-it/lib/token.mjs'
import { MarkState, matchesAt } from './mark-state.ts'
import { toScript } from './math.ts'

/** Most characters looked back through for where a construct began. */
const LOOKED_BACK = 200

const NUMBER_AT_START = /(?:^|\n)[ \t]*\d{1,9}$/
const LABEL = /\\\[(?:[^\]\n\\]{1,200}\\?\](?:\\?\(|\[)|(?:[ xX]|\^?\d{1,4})\\?\])/y
const LABEL_BEHIND = /(\\?)\[[^\][\n\\]{0,200}$/
const TAG = /\\<(\/?[a-z][a-z0-9-]*)[^<>\n]{0,200}>/iy
const TAG_BEHIND = /\\<\/?([a-z][a-z0-9-]*)[^<>\n]{0,200}$/i
const ENTITY = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/iy
const HEADING = /#{1,6}(?:\s|$)/y
const BULLET = /[-+](?:\s|$)|-{3,}\s*$/my

/** A backslash that may be an escape: whether it is one, by what stands around its character. */
interface Escape {
  readonly src: string
  /** The place of the escaped character. */
  readonly at: number
  readonly prev: string
  readonly next: string
}

type Decision = (place: Escape) => boolean

const always: Decision = () => true
const atLineStart = ({ src, at }: Escape) => /(?:^|\n)[ \t>]*$/.test(behind(src, at - 1))

/** By character, whether it would be markup at its place; a character that is not here never is. */
const DECISIONS: Readonly<Record<string, Decision>> = {
  // Between slashes, before the ending of a file or a number of repeats, a star belongs to an expression.
  '*': ({ src, at, prev, next }) =>
    prev !== '/' && !['/', '+', '?', '{'].includes(next) && !/^\.\w/.test(src.slice(at + 1, at + 3)),
  // Beside the wildcard of SQL it is a character of the pattern; behind the hand of a face the backslash is the arm.
  _: ({ prev, next }) => prev !== '%' && next !== '%' && !/[^\P{S}\x20-\x7e]/u.test(prev),
  '`': always,
  '~': ({ src, at, prev, next }) =>
    next === '~' || prev === '~' || src.startsWith('\\~', at + 1) || !(/[\w/]/.test(prev) && /\w/.test(next)),
  '[': ({ src, at }) => matchesAt(LABEL, src, at - 1),
  ']': endsLabel,
  '(': ({ prev }) => prev === ']',
  ')': ({ src, at }) => NUMBER_AT_START.test(behind(src, at - 1)) || /\]\\?\([^\s()]*$/.test(behind(src, at - 1)),
  '.': ({ src, at, next }) => /^\s?$/.test(next) && NUMBER_AT_START.test(behind(src, at - 1)),
  '#': (place) => atLineStart(place) && matchesAt(HEADING, place.src, place.at),
  '-': (place) => atLineStart(place) && matchesAt(BULLET, place.src, place.at),
  '+': (place) => atLineStart(place) && matchesAt(BULLET, place.src, place.at),
  '>': (place) => atLineStart(place) || isKnownTag(TAG_BEHIND.exec(behind(place.src, place.at - 1))?.[1]),
  '<': ({ src, at }) => isKnownTag(firstGroup(TAG, src, at - 1)?.replace('/', '')),
  '&': ({ src, at }) => matchesAt(ENTITY, src, at),
  '!': ({ next }) => next === '[',
  '|': ({ src, at, prev, next }) => next === '|' || prev === '|' || src.startsWith('\\|', at + 1),
  $: ({ prev, next }) => isDigit(next) || isDigit(prev),
}

/**
 * A backslash is an escape only where its character would have been markup, and never in a word that is a path or an
 * expression; everywhere else it is a character, and what stands behind it is no markup.
 */
export function markupEscape(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5c || !(state instanceof MarkState)) return false
  const { shown, taken } = readBackslash(state)
  if (!silent) state.pending += shown
  state.pos += taken
  return true
}

function readBackslash(state: MarkState): { readonly shown: string; readonly taken: number } {
  const { src, pos } = state
  const next = pos + 1 < state.posMax ? (src[pos + 1] ?? '') : ''
  if (next === '\\') return { shown: '\\\\', taken: 2 }
  const coded = state.isCoded(pos)
  // At the end of a line it is a line break, which is there anyway.
  if (next === '\n') return { shown: coded || pos === 0 || /\s/.test(src[pos - 1] ?? '') ? '\\' : '', taken: 1 }
  const closes = closesMark(state, pos + 1)
  if (!coded && isEscape(src, pos + 1) && !(closes && src[pos + 2] === next)) return { shown: next, taken: 2 }
  return next !== '' && '*_`~[<&!$'.includes(next) && !closes
    ? { shown: `\\${next}`, taken: 2 }
    : { shown: '\\', taken: 1 }
}

function isEscape(src: string, at: number): boolean {
  const decide = DECISIONS[src[at] ?? '']
  if (decide === undefined) return false
  const prev = src[at - 2] ?? ''
  return decide({ src, at, prev, next: src[at + 1] ?? '' })
}

/** Emphasis around a path that ends with a backslash ends behind it; of more marks than are open, one is escaped. */
function closesMark(state: MarkState, at: number): boolean {
  const marker = state.src.charCodeAt(at)
  const open = state.countOpen(marker)
  let end = at
  while (end <= at + open && state.src.charCodeAt(end) === marker) end++
  if (open === 0 || end > at + open) return false
  return !/[\p{L}\p{N}]/u.test(state.src[end] ?? '')
}

function endsLabel({ src, at, next }: Escape): boolean {
  const label = LABEL_BEHIND.exec(behind(src, at - 1))
  if (label === null) return false
  const start = at - 1 - label[0].length + 1
  return label[1] === '\\' ? isEscape(src, start) : next === '(' || src.startsWith('\\(', at + 1)
}

function behind(src: string, at: number): string {
  return src.slice(Math.max(0, at - LOOKED_BACK), at)
}

function firstGroup(pattern: RegExp, src: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(src)?.[1]
}

function isDigit(character: string): boolean {
  return /^\d$/.test(character)
}

const LONGEST_SCHEME = 24
/** Ends an address wherever it stands: space, a bracket or quote around it, punctuation of other scripts, an emoji. */
const ENDS = /[\s<>"`\p{Cc}\p{Cf}\p{Z}]|[^\P{P}\x20-\x7e\xb7\u30fb]|[^\P{Extended_Pictographic}\x20-\x7e\xa9\xae]/u
const IDEOGRAPHIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
/** Ends the sentence around an address, not the address. */
const TRAILING = "?!.,:;'|"
const CLOSING_MARKS = '*_~'
const OPENERS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/** An address in the text as one token: no mark of its own formats anything, and no mark around it belongs to it. */
export function bareAddress(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state
  if (src.charCodeAt(pos) !== 0x3a || !src.startsWith('//', pos + 1)) return false
  const scheme = /[a-z][a-z0-9+.-]*$/i.exec(src.slice(Math.max(0, pos - LONGEST_SCHEME), pos))?.[0]
  if (scheme === undefined || (!silent && !state.pending.endsWith(scheme))) return false
  const end = new AddressReader(state, pos + '://'.length).end()
  if (end === pos + '://'.length) return false
  if (!silent) {
    state.pending = state.pending.slice(0, -scheme.length)
    const token = state.push('address', '', 0)
    token.content = scheme + src.slice(pos, end).replace(/\\([*_~])/g, '$1')
    token.info = token.content
  }
  state.pos = end
  return true
}

const HOST = /www(?:\.[a-z0-9-]{1,63})+\.[a-z]{2,24}/iy

/** An address that begins with its host. */
export function nakedAddress(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state
  if (src.charCodeAt(pos) !== 0x77 || /[\w.@/-]/.test(src[pos - 1] ?? ' ') || !matchesAt(HOST, src, pos)) return false
  const end = new AddressReader(state, pos).end()
  if (!silent) {
    const token = state.push('address', '', 0)
    token.content = src.slice(pos, end).replace(/\\([*_~])/g, '$1')
    token.info = `http://${token.content}`
  }
  state.pos = end
  return true
}

/** Finds the end of an address from behind its `://`. */
class AddressReader {
  readonly #state: StateInline
  readonly #from: number
  /** The number of open brackets, by kind. */
  readonly #open: Record<string, number> = { '(': 0, '[': 0, '{': 0 }

  constructor(state: StateInline, from: number) {
    this.#state = state
    this.#from = from
  }

  end(): number {
    const { src, posMax } = this.#state
    let at = this.#from
    while (at < posMax && this.#goesOn(at)) at += (src.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
    return this.#withoutTail(Math.min(at, posMax))
  }

  #goesOn(at: number): boolean {
    const { src } = this.#state
    const character = String.fromCodePoint(src.codePointAt(at) ?? 0x20)
    if (character === '\\') return /[*_~]/.test(src[at + 1] ?? '')
    if (ENDS.test(character)) return false
    const opener = OPENERS[character]
    if (opener !== undefined) {
      const open = (this.#open[opener] ?? 0) - 1
      this.#open[opener] = open
      if (open < 0) return false
    } else if (character in this.#open) this.#open[character] = (this.#open[character] ?? 0) + 1
    else if ('*~'.includes(character) && src[at + 1] === character && this.#hasOpen(character)) return false
    return !IDEOGRAPHIC.test(character) || this.#continuesIn(at)
  }

  /** Text without spaces may follow an address at once: it belongs to it only where a part of the path begins. */
  #continuesIn(at: number): boolean {
    const { src } = this.#state
    const before = src.slice(Math.max(this.#from, at - 2), at)
    const last = before.at(-1) ?? '/'
    if (IDEOGRAPHIC.test(last)) return true
    if (last !== '/' || at === this.#from) return !/[A-Za-z0-9]/.test(last)
    const above = src.slice(this.#from, at - 1)
    return above.includes('/') || IDEOGRAPHIC.test(above)
  }

  #withoutTail(end: number): number {
    const { src } = this.#state
    let to = end
    while (to > this.#from) {
      const last = src[to - 1] ?? ''
      if (!TRAILING.includes(last) && !(CLOSING_MARKS.includes(last) && this.#hasOpen(last))) break
      to--
    }
    return to
  }

  #hasOpen(mark: string): boolean {
    return this.#state instanceof MarkState && this.#state.hasOpen(mark.charCodeAt(0))
  }
}

/** The style of the tags that answers use, by name; `block` tags begin a line of their own. */
const TAGS: Readonly<Record<string, { readonly style?: string; readonly block?: true }>> = {
  b: { style: 'strong' },
  strong: { style: 'strong' },
  i: { style: 'em' },
  em: { style: 'em' },
  cite: { style: 'em' },
  s: { style: 's' },
  del: { style: 's' },
  strike: { style: 's' },
  u: {},
  ins: {},
  mark: {},
  small: {},
  big: {},
  span: {},
  font: {},
  abbr: {},
  p: { block: true },
  div: { block: true },
  center: { block: true },
  section: { block: true },
  details: { block: true },
  summary: { style: 'strong', block: true },
  ul: { block: true },
  ol: { block: true },
  li: { block: true },
  h1: { style: 'strong', block: true },
  h2: { style: 'strong', block: true },
  h3: { style: 'strong', block: true },
  h4: { style: 'strong', block: true },
  h5: { style: 'strong', block: true },
  h6: { style: 'strong', block: true },
}

/** Only attributes that change how the words look: with any other, the tag is what the answer speaks about. */
const PAIRED =
  /<(\/?)([a-z][a-z0-9]*)((?:\s+(?:class|style|align|id|open|color|size|title|dir|lang|width|height)(?:=(?:"[^"<>]{0,200}"|'[^'<>]{0,200}'|[\w#%-]{1,40}))?)*)\s*\/?>/iy
const ANCHOR = /<a\s[^<>]{0,80}?href=(?:"([^"<>\s]{1,2000})"|'([^'<>\s]{1,2000})')[^<>]{0,200}>/iy
const IMAGE = /<img\s[^<>]{1,2400}>/iy
/** An answer that speaks about a tag names it as one. */
const SPOKEN_OF = /\s(?:tags?|elements?)\b/y

/** Tags whose content is taken as it is written. */
const LITERAL = /<(code|kbd|samp|tt|sub|sup)>/iy
/** Other tags that an answer may speak about. */
const OTHERS =
  /^(?:a|br|hr|img|table|t[rdh]|html|head|body|script|style|form|input|button)$|^(?:code|kbd|samp|tt|sub|sup)$/i

function isKnownTag(name: string | undefined): boolean {
  return name !== undefined && (OTHERS.test(name) || Object.hasOwn(TAGS, name.toLowerCase()))
}

/**
 * A tag of HTML that means formatting becomes a token of type `html` with that as its tag, if it is closed as well; any
 * other stays as it is written.
 */
export function htmlTag(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c || !(state instanceof MarkState)) return false
  const taken = new TagReader(state, silent).take()
  state.pos += taken
  return taken > 0
}

/** Characters around a tag that say whether it builds a block. */
const LOOKED_AROUND = 200

class TagReader {
  readonly #state: MarkState
  readonly #silent: boolean

  constructor(state: MarkState, silent: boolean) {
    this.#state = state
    this.#silent = silent
  }

  /** Returns the number of characters taken; 0 if no tag with a meaning begins here. */
  take(): number {
    return this.#lineBreak() || this.#comment() || this.#literal() || this.#link() || this.#image() || this.#paired()
  }

  #lineBreak(): number {
    const found = this.#match(/<(br|hr)\s*\/?>/iy)
    if (found === undefined || this.#isSpokenOf(found[0].length)) return 0
    this.#push(found[1]?.toLowerCase() ?? '')
    // The line break that a tag stands at the end of is the same one.
    const { src, pos } = this.#state
    return found[0].length + (/[ \t]*\n?/y.exec(src.slice(pos + found[0].length))?.[0].length ?? 0)
  }

  /** A comment that has its lines to itself is nothing to read; within a line it is what the answer speaks about. */
  #comment(): number {
    const { src, pos } = this.#state
    if (!src.startsWith('<!--', pos) || !/(?:^|\n)[ \t]*$/.test(src.slice(Math.max(0, pos - 9), pos))) return 0
    const end = this.#state.find('-->', pos + 4)
    if (end === -1 || !/^[ \t]*(?:\n|$)/.test(src.slice(end + 3, end + 12))) return 0
    return Math.min(end + 4, this.#state.posMax) - pos
  }

  #literal(): number {
    const found = this.#match(LITERAL)
    const name = found?.[1]?.toLowerCase()
    if (found === undefined || name === undefined) return 0
    const { src, pos, md } = this.#state
    const from = pos + found[0].length
    const end = this.#closingOf(name, from)
    if (end === -1) return 0
    const content = md.utils.unescapeAll(src.slice(from, end))
    if (!this.#silent) {
      const script = name === 'sub' || name === 'sup'
      const token = this.#state.push(script ? 'text_special' : 'code_inline', '', 0)
      token.content = script && /^[\p{L}\p{N}+\u2212-]/u.test(content) ? toScript(content, name) : content
    }
    return end + `</${name}>`.length - pos
  }

  #link(): number {
    if (this.#match(/<\/a>/iy) !== undefined) return this.#close('a', 'a', 4)
    const found = this.#match(ANCHOR)
    if (found === undefined || this.#state.linkLevel > 0) return 0
    const { md } = this.#state
    const href = md.utils.unescapeAll(found[1] ?? found[2] ?? '')
    if (!md.validateLink(href)) return 0
    return this.#open('a', 'a', found[0].length, (token) => token.attrSet('href', md.normalizeLink(href)))
  }

  #image(): number {
    const found = this.#match(IMAGE)?.[0]
    const source = /\ssrc=["']([^"']*)["']/i.exec(found ?? '')?.[1]
    const { md } = this.#state
    if (found === undefined || source === undefined || !md.validateLink(source)) return 0
    const token = this.#push('img')
    token?.attrSet('src', md.normalizeLink(source))
    if (token !== undefined) token.content = /\salt=(?:"([^"]*)"|'([^']*)')/i.exec(found)?.slice(1).join('') ?? ''
    return found.length
  }

  #paired(): number {
    const found = this.#match(PAIRED)
    const name = found?.[2]?.toLowerCase() ?? ''
    if (found === undefined || !Object.hasOwn(TAGS, name)) return 0
    const { style = '', block } = TAGS[name] ?? {}
    const closing = found[1] === '/'
    const { length } = found[0]
    if (!block) return closing ? this.#close(name, style, length) : this.#open(name, style, length)
    if (!this.#isStructure(closing, length) || !this.#hasHalf(name, closing) || this.#isSpokenOf(length)) return 0
    const token = this.#push(closing && style !== '' ? `/${style}` : !closing && name === 'li' ? 'li' : style)
    if (token !== undefined) token.block = true
    return length
  }

  /** Opens a tag whose closing one follows in the same text, words directly between them. */
  #open(name: string, kind: string, length: number, complete?: (token: Token) => void): number {
    const { src, pos, closers } = this.#state
    if (/^\s?$/.test(src[pos + length] ?? '') || this.#isSpokenOf(length)) return 0
    const end = this.#closingOf(name, pos + length)
    if (end === -1) return 0
    const token = this.#push(kind)
    if (token === undefined) return length
    complete?.(token)
    closers.push(end)
    return length
  }

  #close(name: string, kind: string, length: number): number {
    const { closers, pos } = this.#state
    const index = closers.lastIndexOf(pos)
    if (index === -1 || !this.#state.src.startsWith('</', pos) || name === '') return 0
    if (this.#silent) return length
    closers.splice(index, 1)
    this.#push(`/${kind}`)
    return length
  }

  /** Returns where the closing tag begins, right behind a word; -1 if there is none. */
  #closingOf(name: string, from: number): number {
    const { src, posMax } = this.#state
    const end = this.#state.find(`</${name}>`, from)
    return end <= from || end >= posMax || /\s/.test(src[end - 1] ?? ' ') ? -1 : end
  }

  /** A tag that builds a block begins its line, or ends it, or stands beside another tag; any other is spoken of. */
  #isStructure(closing: boolean, length: number): boolean {
    const { src, pos } = this.#state
    const before = src.slice(Math.max(0, pos - LOOKED_AROUND), pos)
    if (/<\/?[a-z][^<>]*>[ \t]*$/i.test(before)) return true
    if (!closing) return /(?:^|\n)[ \t]*$/.test(before)
    return /^[ \t]*(?:<|\n|$)/.test(src.slice(pos + length, pos + length + LOOKED_AROUND))
  }

  /** Tags of blocks may stand in paragraphs of their own, so their other half is looked for in the whole answer. */
  #hasHalf(name: string, closing: boolean): boolean {
    const { env } = this.#state
    const half = `<${closing ? '' : '/'}${name}`
    env.halves ??= new Map<string, boolean>()
    const known = env.halves.get(half)
    if (known !== undefined) return known
    const place = closing ? `(?:^[ \\t]*|>[ \\t]*)${half}[\\s>]` : `>[ \\t]*${half}>|${half}>[ \\t]*(?:<|$)`
    const has = new RegExp(place, 'im').test(env.source ?? '')
    env.halves.set(half, has)
    return has
  }

  #isSpokenOf(length: number): boolean {
    return matchesAt(SPOKEN_OF, this.#state.src, this.#state.pos + length)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#state.pos
    return pattern.exec(this.#state.src) ?? undefined
  }

  #push(kind: string): Token | undefined {
    if (this.#silent) return undefined
    return this.#state.push('html', kind, 0)
  }
}
