import type { StateBlock, StateInline } from 'markdown-it'
import { MarkState, matchesAt } from './mark-state.ts'
import { readMath } from './math-text.ts'

/** Most characters of a formula within a line, and most lines of one on its own. */
const LONGEST = 1000
const MOST_LINES = 60

/** What only a formula has: a command, a script, a relation. */
const MATHS = /[\\^_=<>{}]|[+*/|-]|\d/
/** Letters with what makes a formula of them: a list, an argument, a factorial, a prime. */
const SHORT = /^(?=.*[(),!'[\]])[A-Za-z([](?:[A-Za-z()[\].!']|, ?)*$/
const COMMANDS = /\\[A-Za-z]{2,}|[\^_]\{/
/** Words of prose, or what stands in programs: dollars around these are no formula. */
const PROSE =
  /(?<![\\A-Za-z{])(?!(?:sin|cos|tan|log|exp|lim|max|min|det|gcd|mod|arg|sup|inf)\b)[A-Za-z]{3,}|[";`]|(?<![A-Za-z)'])'|'(?=[A-Za-z])|\n\s*\n/
/** Behind the closing dollar of a formula: no digit, and no letter but those of `$n$th`. */
const AFTER_DOLLAR = /(?!\d)(?:(?:th|st|nd|rd|s)\b|(?![\p{sc=Latin}_])|$)/uy
const ENVIRONMENTS = /^\\begin\{(?:align|aligned|gather|equation|eqnarray|multline|split|cases|[bpvBV]?matrix)\*?\}/

interface Formula {
  readonly latex: string
  readonly end: number
}

/** A formula within a line: its text, or its source as code where it has commands that no line of text can show. */
export function inlineMath(state: StateInline, silent: boolean): boolean {
  if (!(state instanceof MarkState)) return false
  const formula = formulaAt(state)
  if (formula === undefined) return false
  const text = readMath(formula.latex)
  if (text === undefined && !COMMANDS.test(formula.latex)) return false
  if (!silent) {
    const token = state.push(text === undefined ? 'code_inline' : 'text_special', '', 0)
    token.content = text ?? state.src.slice(state.pos, formula.end)
  }
  state.pos = formula.end
  return true
}

function formulaAt(state: MarkState): Formula | undefined {
  const { src, pos } = state
  if (src.startsWith('$$', pos)) return between(state, '$$', '$$')
  if (src.startsWith('$', pos)) return betweenDollars(state)
  if (src.startsWith('\\(', pos)) {
    const formula = between(state, '\\(', '\\)')
    // A word between escaped brackets is a word.
    return formula === undefined || /^[A-Za-z]{3,}$/.test(formula.latex) ? undefined : formula
  }
  if (!src.startsWith('\\[', pos)) return undefined
  const formula = between(state, '\\[', '\\]')
  if (formula === undefined || src[formula.end] === '(') return undefined
  return /[\\^_=<>{}+]|^\s/.test(formula.latex) ? formula : undefined
}

function between(state: MarkState, open: string, close: string): Formula | undefined {
  const from = state.pos + open.length
  const at = state.find(close, from)
  if (at <= from || at > from + LONGEST || at + close.length > state.posMax) return undefined
  const latex = state.src.slice(from, at)
  return latex.trim() === '' || /\n\s*\n/.test(latex) ? undefined : { latex, end: at + close.length }
}

/** Between single dollars stands a formula only if it looks like one, for dollars are money, variables and anchors. */
function betweenDollars(state: MarkState): Formula | undefined {
  const { src, pos } = state
  if (/[\w$\\]/.test(src[pos - 1] ?? '') || /^\s?$/.test(src[pos + 1] ?? '')) return undefined
  const formula = between(state, '$', '$')
  if (formula === undefined) return undefined
  const { latex, end } = formula
  if (/[\s\\]$/.test(latex) || !matchesAt(AFTER_DOLLAR, src, end)) return undefined
  if (COMMANDS.test(latex)) return formula
  return /^[A-Za-z]$/.test(latex) || (!PROSE.test(latex) && (MATHS.test(latex) || SHORT.test(latex)))
    ? formula
    : undefined
}

/** A formula on lines of its own, between `$$`, between `\[` and `\]`, or an environment. */
export function blockMath(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (state.sCount[startLine] === undefined || (state.sCount[startLine] ?? 0) < state.blkIndent) return false
  const first = lineOf(state, startLine)
  const close = closingFor(first)
  if (close === undefined) return false
  const end = closingLine(state, startLine, endLine, close)
  if (end === -1) return false
  const source = state.getLines(startLine, end + 1, state.blkIndent, false).trim()
  const latex = ENVIRONMENTS.test(source) ? source : source.slice(2).replace(/(?:\$\$|\\\])[ \t]*[.,;]?$/, '')
  if (latex.trim() === '') return false
  if (silent) return true
  const token = state.push('math', '', 0)
  token.content = readMath(latex) ?? ''
  token.info = source
  token.map = [startLine, end + 1]
  state.line = end + 1
  return true
}

function closingFor(first: string): RegExp | undefined {
  if (first.startsWith('$$')) return /\$\$[ \t]*[.,;]?$/
  if (first.startsWith('\\[')) return /\\\][ \t]*[.,;]?$/
  return ENVIRONMENTS.test(first) ? /\\end\{[A-Za-z]+\*?\}[ \t]*[.,;]?$/ : undefined
}

function closingLine(state: StateBlock, startLine: number, endLine: number, close: RegExp): number {
  const first = lineOf(state, startLine).slice(2)
  // Two formulas in one line of text are none on a line of their own.
  if (close.test(first)) return /\$\$|\\\]/.test(first.slice(0, first.search(close))) ? -1 : startLine
  const last = Math.min(endLine, startLine + MOST_LINES)
  for (let line = startLine + 1; line < last; line++) {
    const text = lineOf(state, line)
    if ((state.sCount[line] ?? 0) < state.blkIndent || /^(?:```|~~~)/.test(text)) return -1
    if (close.test(text)) return line
  }
  return -1
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()
}
