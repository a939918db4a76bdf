import type StateInline from 'markdown-it/lib/rules_inline/state_inline.mjs'
import type Token from 'markdown-it/lib/token.mjs'
import { MarkState, matchesAt } from './mark-state.ts'
import { toScript } from './math-text.ts'

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
const TAG =
  /<(\/?)([a-z][a-z0-9]*)((?:\s+(?:class|style|align|id|open|color|size|title|dir|lang|width|height)(?:=(?:"[^"<>]{0,200}"|'[^'<>]{0,200}'|[\w#%-]{1,40}))?)*)\s*\/?>/iy
const LINK = /<a\s[^<>]{0,80}?href=(?:"([^"<>\s]{1,2000})"|'([^'<>\s]{1,2000})')[^<>]{0,200}>/iy
const IMAGE = /<img\s[^<>]{1,2400}>/iy
/** An answer that speaks about a tag names it as one. */
const SPOKEN_OF = /\s(?:tags?|elements?)\b/y

/** Tags whose content is taken as it is written. */
const LITERAL = /<(code|kbd|samp|tt|sub|sup)>/iy
/** Other tags that an answer may speak about. */
const OTHERS =
  /^(?:a|br|hr|img|table|t[rdh]|html|head|body|script|style|form|input|button)$|^(?:code|kbd|samp|tt|sub|sup)$/i

export function isKnownTag(name: string | undefined): boolean {
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
      token.content = script && /^[\p{L}\p{N}+-]/u.test(content) ? toScript(content, name) : content
    }
    return end + `</${name}>`.length - pos
  }

  #link(): number {
    if (this.#match(/<\/a>/iy) !== undefined) return this.#close('a', 'a', 4)
    const found = this.#match(LINK)
    if (found === undefined || this.#state.linkLevel > 0) return 0
    const href = found[1] ?? found[2] ?? ''
    const { md } = this.#state
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
    const found = this.#match(TAG)
    const name = found?.[2]?.toLowerCase() ?? ''
    if (found === undefined || !Object.hasOwn(TAGS, name)) return 0
    const { style = '', block } = TAGS[name] ?? {}
    const closing = found[1] === '/'
    const { length } = found[0]
    if (!block) return closing ? this.#close(name, style, length) : this.#open(name, style, length)
    if (!this.#hasHalf(name, closing) || this.#isSpokenOf(length)) return 0
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

  /** Tags of blocks may stand in paragraphs of their own, so their other half is looked for in the whole answer. */
  #hasHalf(name: string, closing: boolean): boolean {
    const { env } = this.#state
    const half = `<${closing ? '' : '/'}${name}`
    env.halves ??= new Map<string, boolean>()
    const known = env.halves.get(half)
    if (known !== undefined) return known
    const has = new RegExp(`${half}[\\s>]`, 'i').test(env.source ?? '')
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
