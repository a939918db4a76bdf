import type { StateBlock, StateInline } from 'markdown-it'
import { unescapeAll } from 'markdown-it/lib/common/utils.mjs'
import { MarkState, matchesAt } from './mark-state.ts'

/** Most characters of a formula within a line, and most lines of one on its own. */
const LONGEST = 1000
const MOST_LINES = 60

/** Characters that only a formula has: a command, a script, a relation. */
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

/** A dollar behind one backslash is money within a formula. */
const ESCAPED_DOLLAR = /(?:^|[^\\])\\$/
/** Marks of a regular expression: repeats, sets, groups named by number, choices outside a norm. */
const REGEX = /\.[*+]|\[\^|\[(?:a-z|A-Z|0-9)|\\[1-9]/
const NORMS = /\\\|[^|]*\\\|(?![A-Za-z0-9])/g
/** Directly before a group of a regular expression: its start, the word it stands in, or another group of it. */
const BEFORE_GROUP = /(?:["'`^A-Za-z]|(?<!\\\))\/)$|(?:^|\s)["'`/^\w]\S*\\\)_?$/
const BEHIND_GROUP = /^(?:\\[?+{]|[^\n]{0,100}\\[1-9])/

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
    return formula === undefined || isWordOrGroup(src, pos, formula) ? undefined : formula
  }
  if (!src.startsWith('\\[', pos)) return undefined
  const formula = between(state, '\\[', '\\]')
  if (formula === undefined || src[formula.end] === '(') return undefined
  return /[\\^_=<>{}+]|^\s/.test(formula.latex) ? formula : undefined
}

/** A word between escaped brackets is a word, and a group of a regular expression is none of mathematics. */
function isWordOrGroup(src: string, pos: number, { latex, end }: Formula): boolean {
  if (/^[A-Za-z]{3,}$/.test(latex) || REGEX.test(latex) || latex.replace(NORMS, '').includes('\\|')) return true
  return BEFORE_GROUP.test(src.slice(Math.max(0, pos - 60), pos)) || BEHIND_GROUP.test(src.slice(end, end + 104))
}

function between(state: MarkState, open: string, close: string): Formula | undefined {
  const from = state.pos + open.length
  let at = state.find(close, from)
  if (close === '$')
    while (at > from && ESCAPED_DOLLAR.test(state.src.slice(at - 2, at))) at = state.find(close, at + 1)
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
  const text = readMath(latex)
  token.content = text === undefined ? '' : text + (/[.,;]?$/.exec(latex === source ? '' : source)?.[0] ?? '')
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

/** A formula nested deeper or longer than this is not for a line of text. */
const MAX_DEPTH = 12
const MAX_LENGTH = 4000

const RAISED_FROM =
  '0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW\u03b2\u03b3\u03b4\u03b8\u03c6\u03c7' + '\u2212'
const RAISED_TO =
  '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207c\u207d\u207e\u1d43' +
  '\u1d47\u1d9c\u1d48\u1d49\u1da0\u1d4d\u02b0\u2071\u02b2\u1d4f\u02e1\u1d50\u207f\u1d52\u1d56\u02b3' +
  '\u02e2\u1d57\u1d58\u1d5b\u02b7\u02e3\u02b8\u1dbb\u1d2c\u1d2e\u1d30\u1d31\u1d33\u1d34\u1d35\u1d36' +
  '\u1d37\u1d38\u1d39\u1d3a\u1d3c\u1d3e\u1d3f\u1d40\u1d41\u2c7d\u1d42\u1d5d\u1d5e\u1d5f\u1dbf\u1d60' +
  '\u1d61\u207b'
const LOWERED_FROM = '0123456789+-=()aehijklmnoprstuvx\u03b2\u03b3\u03c1\u03c6\u03c7\u2212'
const LOWERED_TO =
  '\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b\u208c\u208d\u208e\u2090' +
  '\u2091\u2095\u1d62\u2c7c\u2096\u2097\u2098\u2099\u2092\u209a\u1d63\u209b\u209c\u1d64\u1d65\u2093' +
  '\u1d66\u1d67\u1d68\u1d69\u1d6a\u208b'

const SCRIPTS = { sup: scriptMap(RAISED_FROM, RAISED_TO), sub: scriptMap(LOWERED_FROM, LOWERED_TO) }

/** Commands and their characters, where they are not those of the HTML entity of the same name. */
const SYMBOLS = wordPairs(
  'to \u2192 gets \u2190 infty \u221e partial \u2202 exists \u2203 neq \u2260 cdot \u00b7 circ \u2218 ' +
    'cdots \u22ef ldots \u2026 dots \u2026 vdots \u22ee ddots \u22f1 land \u2227 lor \u2228 lnot \u00ac ' +
    'neg \u00ac iff \u21d4 implies \u21d2 impliedby \u21d0 degree \u00b0 colon : emptyset \u2205 mid | ' +
    'vert | Vert \u2016 lvert | rvert | lVert \u2016 rVert \u2016 lbrace { rbrace } lbrack [ rbrack ] ' +
    'backslash \\ ast * star \u22c6 bullet \u2022 prime \u2032 cdotp \u00b7 epsilon \u03b5 varepsilon ' +
    '\u03b5 phi \u03c6 varphi \u03c6 theta \u03b8 vartheta \u03d1 sim ~ simeq \u2243 doteq \u2250 notin ' +
    '\u2209 ni \u220b oint \u222e iint \u222c iiint \u222d surd \u221a square \u25a1 blacksquare \u25a0 ' +
    'qed \u220e Box \u25a1 checkmark \u2713 langle \u27e8 rangle \u27e9 parallel \u2225 lt < gt > dagger ' +
    '\u2020 hbar \u210f ell \u2113 Re \u211c Im \u2111 wp \u2118 top \u22a4 bot \u22a5 models \u22a8 ' +
    'vdash \u22a2 setminus \u2216 smallsetminus \u2216 triangle \u25b3 longrightarrow \u27f6 ' +
    'Longrightarrow \u27f9 rightleftharpoons \u21cc S \u00a7 P \u00b6 AA \u00c5 pounds \u00a3 euro \u20ac ' +
    'aleph \u2135',
)
/** Commands with a space on both sides, as between words. */
const SPACED = new Set(
  (
    'to gets neq cdot iff implies impliedby land lor notin ni sim simeq doteq models vdash setminus ' +
    'smallsetminus longrightarrow Longrightarrow rightleftharpoons parallel mid le leq ge geq ne approx ' +
    'equiv cong propto pm mp times div cup cap subset subseteq supset supseteq in rightarrow leftarrow ' +
    'Rightarrow Leftarrow leftrightarrow Leftrightarrow mapsto wedge vee oplus otimes perp ll gg prec ' +
    'succ leqslant geqslant'
  ).split(' '),
)
const FUNCTIONS =
  /^(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|log|ln|lg|exp|lim|limsup|liminf|max|min|sup|inf|arg|det|dim|ker|gcd|lcm|deg|hom|Pr|mod|argmax|argmin|softmax|tr|rank|sgn)$/
/** Combining characters by command; each stands behind every letter of its argument. */
const ACCENTS = new Map(
  Object.entries({
    hat: '\u0302',
    widehat: '\u0302',
    bar: '\u0304',
    overline: '\u0305',
    vec: '\u20d7',
    dot: '\u0307',
    ddot: '\u0308',
    tilde: '\u0303',
    widetilde: '\u0303',
    underline: '\u0332',
    check: '\u030c',
    breve: '\u0306',
    acute: '\u0301',
    grave: '\u0300',
    mathring: '\u030a',
    overrightarrow: '\u20d7',
  }),
)
/** Commands that say how their argument looks, which stays. */
const WRAPPERS =
  /^(?:text|textbf|textit|textrm|textsf|texttt|textnormal|mbox|mathrm|mathbf|mathit|mathsf|mathtt|mathnormal|boldsymbol|bm|operatorname|boxed|fbox|mathop|mathbin|mathrel|mathord|smash|cancel|underbrace|overbrace|emph)$/
const ALPHABETS = new Map(Object.entries({ mathbb: 'opf', mathcal: 'scr', mathscr: 'scr', mathfrak: 'fr' }))
/** Commands that only say how something is set. */
const SILENT =
  /^(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|nonumber|notag|centering|mathstrut|hline|!|protect|rm|bf|it|cal)$/
const SPACES = /^(?:[,;: ]|quad|qquad|space|enspace|thinspace|medspace|thickspace|hspace|hfill|\n)$/
const BRACKETS = new Map(
  Object.entries({
    matrix: ['[', ']'],
    smallmatrix: ['[', ']'],
    array: ['[', ']'],
    bmatrix: ['[', ']'],
    pmatrix: ['(', ')'],
    Bmatrix: ['{', '}'],
    vmatrix: ['|', '|'],
    Vmatrix: ['\u2016', '\u2016'],
    cases: ['{ ', ''],
  }),
)
const LINES = /^(?:align|aligned|alignat|gather|gathered|equation|eqnarray|multline|split|displaymath|math|flalign)\*?$/

/** Returns a formula in LaTeX as a line of text, or lines; `undefined` if it cannot be read so. */
function readMath(latex: string): string | undefined {
  if (latex.length > MAX_LENGTH || /[\ue000\ue001]/.test(latex)) return undefined
  const reader = new MathReader(latex)
  const text = reader.read('', 0)
  if (text === undefined || !reader.isAtEnd) return undefined
  return withFractions(text)
    .replaceAll('\u2032\u2032\u2032', '\u2034')
    .replaceAll('\u2032\u2032', '\u2033')
    .split('\n')
    .map((line) => line.replace(/[ \t]+(?=[ \t\u230b\u2309\u27e9])/g, '').trim())
    .filter((line) => line !== '')
    .join('\n')
}

/** Marks around a fraction until the text beside it is known. */
const OPEN = '\ue000'
const CLOSE = '\ue001'
/** A fraction without one in it, and the whole number of a mixed one. */
const FRACTION = /(?:(?<![\p{L}\p{N}.,^_\u221a])(\d+) ?(?=\ue000\d+\/\d+\ue001))?\ue000([^\ue000\ue001]*)\ue001/gu
/** Beside these a fraction is read as it is meant; beside all others it is in brackets. */
const LOOSE_BEFORE = /(?:^|[\s+\-\u2212=<>,.;:([{|\u2016\u27e8\u230a\u2308*\xb7\xd7~])$/
const LOOSE_BEHIND = /^(?:$|[\s+\-\u2212=<>,.;:)\]}|\u2016\u27e9\u230b\u2309*\xb7\xd7~?])/

/** Puts brackets around the fractions that are not alone: the innermost ones first. */
function withFractions(text: string): string {
  let settled = text
  for (let depth = 0; depth <= MAX_DEPTH && settled.includes(OPEN); depth++) {
    const whole = settled
    settled = whole.replace(FRACTION, (found: string, units: string | undefined, fraction: string, at: number) => {
      const before = whole.slice(Math.max(0, at - 2), at)
      const behind = whole.slice(at + found.length, at + found.length + 1)
      const mixed = units === undefined ? fraction : `${units} ${fraction}`
      return LOOSE_BEFORE.test(before) && !/\/ ?$/.test(before) && LOOSE_BEHIND.test(behind) ? mixed : `(${mixed})`
    })
  }
  return settled
}

/** Returns a text raised or lowered: by characters that are so, else behind a mark, several letters in brackets. */
export function toScript(text: string, kind: 'sub' | 'sup'): string {
  // Spaces around operators are none of the text.
  const bare = text.replace(/\s*([^\p{L}\p{N}\s])\s*/gu, '$1').trim()
  const characters = [...bare].map((character) => SCRIPTS[kind].get(character))
  if (bare !== '' && characters.every((character) => character !== undefined)) return characters.join('')
  if (kind === 'sup' && /^[*\u2032\u2020\xb0'"]+$/.test(bare)) return bare
  if (kind === 'sup' && bare === '\u2218') return '\xb0'
  if (kind === 'sup' && bare === '\u22a4') return '\u1d40'
  const words = text.trim()
  return (kind === 'sup' ? '^' : '_') + (/^.\p{M}*$/u.test(words) ? words : `(${words})`)
}

/** Characters that stand for another one in a formula. */
const PLAIN: Readonly<Record<string, string>> = { '&': ' ', '~': ' ', "'": '\u2032' }

/** One pass over a formula; every reading ends at the first thing that has no place in a line of text. */
class MathReader {
  readonly #source: string
  #at = 0
  /** The end of a root or script without brackets, which a letter right behind it would seem part of. */
  #openEnd = -1

  constructor(source: string) {
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length
  }

  /** Reads up to `until` and over it: a closing brace or bracket, or nothing for the whole rest. */
  read(until: string, depth: number): string | undefined {
    if (depth > MAX_DEPTH) return undefined
    let text = ''
    while (!this.isAtEnd) {
      const next = this.#source[this.#at] ?? ''
      if (next === until) {
        this.#at++
        return text
      }
      const longer = this.#goOn(text, next, depth)
      if (longer === undefined) return undefined
      text = longer
    }
    return until === '' ? text : undefined
  }

  /** Returns the text so far with what comes next: a script, which stands right behind it, or any other. */
  #goOn(text: string, next: string, depth: number): string | undefined {
    if (next !== '^' && next !== '_') {
      const isBehindOpenEnd = this.#at === this.#openEnd
      const atom = this.#atom(depth)
      if (atom === undefined) return undefined
      return text + (isBehindOpenEnd && /^[\p{L}\p{N}]/u.test(atom) ? ' ' : apart(text, atom)) + atom
    }
    this.#at++
    const argument = this.#argument(depth)
    if (argument === undefined) return undefined
    const script = toScript(argument, next === '^' ? 'sup' : 'sub')
    if (/^[\^_][^(]/.test(script)) this.#openEnd = this.#at
    return text.trimEnd() + script
  }

  #atom(depth: number): string | undefined {
    const next = this.#source[this.#at++] ?? ''
    if (next === '\\') return this.#command(depth)
    if (next === '{') return this.read('}', depth + 1)
    return '}$#%'.includes(next) ? undefined : (PLAIN[next] ?? next)
  }

  #command(depth: number): string | undefined {
    const name = /^(?:[A-Za-z]+\*?|[\s\S])/.exec(this.#source.slice(this.#at, this.#at + 40))?.[0]
    if (name === undefined) return undefined
    this.#at += name.length
    const isSpaced = /^[A-Za-z]/.test(name) && this.#skipSpaces()
    if (name === '\\' || name === 'newline' || name === 'cr') return this.#newLine()
    if ('{}%$#_&|'.includes(name)) return name === '|' ? '\u2016' : name
    if (SPACES.test(name)) return name === 'qquad' ? '   ' : ' '
    if (SILENT.test(name)) return this.#silent(name)
    const symbol = this.#symbol(name)
    if (symbol === undefined) return this.#construct(name, depth)
    // The space that ends a command belongs to the operator behind it.
    return isSpaced && /[=<>+*/|-]/.test(this.#source[this.#at] ?? '') ? `${symbol} ` : symbol
  }

  #newLine(): string {
    const space = /^\*?\[[^\]]{0,12}\]/.exec(this.#source.slice(this.#at, this.#at + 14))
    this.#at += space?.[0].length ?? 0
    return '\n'
  }

  /** The delimiter behind `\left` and `\right` stays, but for the empty one. */
  #silent(name: string): string {
    if (/^(?:left|right)$/.test(name) && this.#source[this.#at] === '.') this.#at++
    return ''
  }

  #symbol(name: string): string | undefined {
    if (name === 'not' || ACCENTS.has(name)) return undefined
    if (FUNCTIONS.test(name)) return name
    const symbol = SYMBOLS.get(name) ?? entity(name)
    if (symbol === undefined) return undefined
    return SPACED.has(name) ? ` ${symbol} ` : symbol
  }

  #construct(name: string, depth: number): string | undefined {
    if (name === 'begin') return this.#environment(depth)
    if (/^[dtc]?frac$/.test(name))
      return this.#pair(depth, (over, under) => `${OPEN}${factor(over)}/${divisor(under)}${CLOSE}`)
    if (/^[dt]?binom$/.test(name)) return this.#pair(depth, (over, under) => `C(${over}, ${under})`)
    if (/^(?:overset|stackrel)$/.test(name)) return this.#pair(depth, (over, base) => base + toScript(over, 'sup'))
    if (name === 'underset') return this.#pair(depth, (under, base) => base + toScript(under, 'sub'))
    if (/^(?:color|textcolor)$/.test(name)) return this.#pair(depth, (_, text) => text)
    if (name === 'sqrt') return this.#root(depth)
    if (name === 'not') return this.#negated(depth)
    if (/^(?:tag\*?|pmod|pod)$/.test(name)) {
      const inside = this.#argument(depth)
      return inside === undefined ? undefined : ` (${name === 'pmod' ? 'mod ' : ''}${inside})`
    }
    if (name === 'bmod') return ' mod '
    return this.#wrapped(name.replace('*', ''), depth)
  }

  #wrapped(name: string, depth: number): string | undefined {
    const isText = /^(?:text|mbox|operatorname|emph)/.test(name)
    if (WRAPPERS.test(name)) return isText ? this.#words(depth) : this.#argument(depth)
    const accent = ACCENTS.get(name)
    const alphabet = ALPHABETS.get(name)
    if (accent === undefined && alphabet === undefined) return undefined
    const inside = this.#argument(depth)
    if (inside === undefined) return undefined
    if (accent !== undefined) return inside.replace(/[\p{L}\p{N}]\p{M}*/gu, `$&${accent}`)
    return inside.replace(/[A-Za-z]/g, (letter) => entity(letter + alphabet) ?? letter)
  }

  /** The words of `\text{...}`, spaces and all; a formula inside them is one. */
  #words(depth: number): string | undefined {
    if (this.#source[this.#at] !== '{') return this.#argument(depth)
    const end = this.#source.indexOf('}', this.#at)
    const words = this.#source.slice(this.#at + 1, end)
    if (end === -1 || /[\\{]/.test(words)) return this.#argument(depth)
    this.#at = end + 1
    return words.replaceAll('$', '')
  }

  #pair(depth: number, join: (first: string, second: string) => string): string | undefined {
    const first = this.#argument(depth)
    const second = first === undefined ? undefined : this.#argument(depth)
    return first === undefined || second === undefined ? undefined : join(first.trim(), second.trim())
  }

  #root(depth: number): string | undefined {
    let degree = ''
    if (this.#source[this.#at] === '[') {
      this.#at++
      const read = this.read(']', depth + 1)
      if (read === undefined) return undefined
      degree = read === '2' ? '' : toScript(read, 'sup')
    }
    const inside = this.#argument(depth)
    if (inside === undefined) return undefined
    const isOne = ONE_SIGN.test(inside.trim())
    const root = `${degree}\u221a${isOne ? inside.trim() : `(${inside.trim()})`}`
    if (/^\s*\^/.test(this.#source.slice(this.#at, this.#at + 9))) return `(${root})`
    if (isOne) this.#openEnd = this.#at
    return root
  }

  #negated(depth: number): string | undefined {
    const inside = this.#argument(depth)?.trim()
    return inside === undefined ? undefined : ` ${inside === '=' ? '\u2260' : `${inside}\u0338`} `
  }

  /** A group in braces, a command with its arguments, or the next character. */
  #argument(depth: number): string | undefined {
    this.#skipSpaces()
    if (this.isAtEnd || depth >= MAX_DEPTH) return undefined
    return this.#atom(depth + 1)
  }

  #environment(depth: number): string | undefined {
    const name = /^\{([A-Za-z]+\*?)\}/.exec(this.#source.slice(this.#at, this.#at + 24))?.[1]
    if (name === undefined) return undefined
    const from = this.#at + name.length + 2
    const end = this.#source.indexOf(`\\end{${name}}`, from)
    if (end === -1 || depth >= MAX_DEPTH) return undefined
    this.#at = end + `\\end{${name}}`.length
    const columns = /^(?:\[[a-z]\])?\{[^{}]{0,40}\}/.exec(this.#source.slice(from, end))?.[0] ?? ''
    const content = this.#source.slice(from + (/^(?:array|alignat)/.test(name) ? columns.length : 0), end)
    return LINES.test(name) ? new MathReader(content).read('', depth + 1) : readRows(name, content, depth + 1)
  }

  #skipSpaces(): boolean {
    const from = this.#at
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at++
    return this.#at > from
  }
}

/** The rows of a matrix or of cases between their brackets, in one line. */
function readRows(name: string, content: string, depth: number): string | undefined {
  const [open, close] = BRACKETS.get(name) ?? []
  if (open === undefined || close === undefined) return undefined
  // Rows are cut at their ends in this environment, not in one inside it.
  if (content.includes('\\begin')) return undefined
  const rows = content
    .split(/\\\\(?:\[[^\]]{0,12}\])?/)
    .map((row) => row.split(/(?<!\\)&/).map((cell) => new MathReader(cell.trim()).read('', depth)))
    .filter((row) => row.some((cell) => cell !== ''))
  if (rows.flat().includes(undefined)) return undefined
  return open + rows.map((row) => row.join(name === 'cases' ? ' ' : ', ').trim()).join('; ') + close
}

/** A root with its degree, which would be the power of a letter right before it. */
const DEGREE = /^[^\s(\u221a]+\u221a/
/** A number, or one letter with its accents, primes and index. */
const ONE_SIGN = /^(?:\d+(?:[.,]\d+)?|\p{L}[\p{M}\u2032]*[\u2080-\u209c\u1d62-\u1d6a\u2c7c]*)$/u

/** A space between the name of a function and a letter or digit beside it. */
function apart(before: string, atom: string): string {
  if (DEGREE.test(atom) && /[\p{L}\p{N})]$/u.test(before)) return ' '
  if (/^[a-zA-Z]{2,}$/.test(atom) && /[\p{L}\p{N}\ue001]$/u.test(before) && FUNCTIONS.test(atom)) return ' '
  const last = /[A-Za-z]{2,}$/.exec(before.slice(-8))?.[0]
  return last !== undefined && FUNCTIONS.test(last) && /^[\p{L}\p{N}\u221a]/u.test(atom) ? ' ' : ''
}

/** A dividend needs brackets only around a sum. */
function factor(text: string): string {
  return isSimple(text.replace(/\u221a?\([^()]*\)/g, '')) ? text : `(${text})`
}

/** A divisor of more than one factor needs brackets, but for a differential. */
function divisor(text: string): string {
  if (/^(?:\p{L}{0,6}|\u221a)\([^()]*\)$/u.test(text)) return text
  return /^\p{N}+[\p{Lu}\p{Ll}(\u221a]|^(?![d\u2202\u0394])\p{L}\p{L}|\)./u.test(text) ? `(${text})` : grouped(text)
}

/** In brackets, if it would be read together with what stands around it otherwise. */
function grouped(text: string): string {
  return isSimple(text) ? text : `(${text})`
}

function isSimple(text: string): boolean {
  return /^(?:[\p{L}\p{N}\p{M}\p{No}.,\u2032\u221e\u2202\u02b0-\u02ff\u1d2c-\u1dbf\u2070-\u209f]|\u221a(?=[\p{L}\p{N}]+$))*$/u.test(
    text,
  )
}

/** The character of an HTML entity: most symbols go by the same name there. */
function entity(name: string): string | undefined {
  if (!/^[A-Za-z]{2,24}$/.test(name)) return undefined
  const decoded = unescapeAll(`&${name};`)
  return decoded.startsWith('&') && decoded.length > 1 ? undefined : decoded
}

function scriptMap(from: string, to: string): ReadonlyMap<string, string> {
  const targets = [...to]
  return new Map([...from].map((character, index) => [character, targets[index] ?? character]))
}

function wordPairs(words: string): ReadonlyMap<string, string> {
  const list = words.split(' ')
  const pairs = new Map<string, string>()
  for (let index = 0; index < list.length; index += 2) pairs.set(list[index] ?? '', list[index + 1] ?? '')
  return pairs
}
