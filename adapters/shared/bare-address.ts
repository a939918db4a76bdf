import type StateInline from 'markdown-it/lib/rules_inline/state_inline.mjs'
import { MarkState, matchesAt } from './mark-state.ts'

const LONGEST_SCHEME = 24
/** Ends an address wherever it stands: space, a bracket or quote around it, punctuation of other scripts, an emoji. */
const ENDS = /[\s<>"`\p{Cc}\p{Cf}\p{Z}]|[^\P{P}\x20-\x7e\xb7\u30fb]|[^\P{Extended_Pictographic}\x20-\x7e\xa9\xae]/u
const IDEOGRAPHIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
/** Ends the sentence around an address, not the address. */
const TRAILING = "?!.,:;'|"
const MARKS = '*_~'
const CLOSERS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

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
  /** How many brackets of a kind are open. */
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
    const opener = CLOSERS[character]
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
      if (!TRAILING.includes(last) && !(MARKS.includes(last) && this.#hasOpen(last))) break
      to--
    }
    return to
  }

  #hasOpen(mark: string): boolean {
    return this.#state instanceof MarkState && this.#state.hasOpen(mark.charCodeAt(0))
  }
}
