import type StateInline from 'markdown-it/lib/rules_inline/state_inline.mjs'
import { isKnownTag } from './html-tags.ts'
import { MarkState, matchesAt } from './mark-state.ts'

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
  /** Where the escaped character stands. */
  readonly at: number
  readonly prev: string
  readonly next: string
}

type Decision = (place: Escape) => boolean

const always: Decision = () => true
const atLineStart = ({ src, at }: Escape) => /(?:^|\n)[ \t>]*$/.test(behind(src, at - 1))

/** By character, whether it would be markup at its place; a character that is not here never is. */
const DECISIONS: Readonly<Record<string, Decision>> = {
  '*': always,
  _: always,
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

/** Emphasis around a path that ends with a backslash ends behind it. */
function closesMark(state: MarkState, at: number): boolean {
  const marker = state.src.charCodeAt(at)
  if (!state.hasOpen(marker)) return false
  let end = at
  while (state.src.charCodeAt(end) === marker) end++
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
