import MarkdownIt, { type StateBlock, type StateInline } from 'markdown-it'
import type { RuleBlock } from 'markdown-it/lib/parser_block.mjs'
import type { RuleInline } from 'markdown-it/lib/parser_inline.mjs'
import { bareAddress, htmlTag, markupEscape, nakedAddress } from './inline-rules.ts'
import { MarkState, matchesAt } from './mark-state.ts'
import { blockMath, inlineMath } from './math.ts'

/** Levels of quote and list (a list takes two) that are understood; what is deeper is text as it came. */
const MAX_DEPTH = 16
/** The library's own limit, never reached by blocks; low because brackets within brackets cost time by this factor. */
const MAX_NESTING = 20

/** Addresses that the platforms open. */
export const SAFE_LINK = /^(?:https?:\/\/|tg:\/\/|mailto:(?=\S+\.))\S+$/i
/** Addresses that stand behind their label as text: another scheme, or a place within a site, a folder or a page. */
const OTHER_LINK =
  /^(?!(?:javascript|data|vbscript):)(?:[a-z][a-z0-9+.-]{1,20}:\S+|#[\w\p{L}-][^\s()]*|(?=[^\s]*[./])[\w./~@%-][^\s]*)$/iu

let parser: MarkdownIt | undefined

/**
 * The one parser instance, made on first use: making it costs start time that a daemon without traffic need not pay.
 */
export function markdownParser(): MarkdownIt {
  parser ??= createParser()
  return parser
}

/** The facts about the whole answer that rules need. */
export interface Environment {
  readonly source: string
  /** Names of footnotes that have a text. */
  readonly footnotes: ReadonlySet<string>
  readonly references: Record<string, Reference>
}

export class Reference {
  /** A link in the answer goes there. */
  isUsed = false
  readonly #address: string

  constructor(address: string) {
    this.#address = address
  }

  get href(): string {
    this.isUsed = true
    return this.#address
  }
}

/**
 * GFM as models write it. Marks, escapes, tags and formulas have rules of their own; what is no markup by them stays
 * as it is written, character by character. Links with a dangerous scheme stay text.
 */
function createParser(): MarkdownIt {
  const created = new MarkdownIt({ html: false })
  Object.assign(created.options, { maxNesting: MAX_NESTING })
  created.validateLink = (url) => SAFE_LINK.test(url) || OTHER_LINK.test(url)
  // The library's own normalising is half the cost of a text full of links, and the platforms take the address as it
  // is.
  created.normalizeLink = (url) => url.replace(/[\s"<>]/g, encodeURIComponent)
  created.normalizeLinkText = (url) => url
  const [text] = created.inline.ruler.getRules('')
  const [, , fence] = created.block.ruler.getRules('')
  created.inline.State = MarkState
  created.block.ruler.disable(['html_block'])
  created.inline.ruler.disable(['linkify', 'html_inline'])
  created.core.ruler.disable(['linkify', 'replacements', 'smartquotes', 'text_join'])
  // The reader of the tokens joins texts itself.
  created.inline.ruler2.disable(['fragments_join'])
  created.inline.ruler.at('newline', keepLineBreak)
  created.inline.ruler.at('escape', markupEscape)
  created.inline.ruler.before('escape', 'math', inlineMath)
  created.inline.ruler.before('newline', 'address', bareAddress)
  created.inline.ruler.before('newline', 'naked', nakedAddress)
  created.inline.ruler.before('link', 'citation', citation)
  created.inline.ruler.at('autolink', bracketedAddress)
  created.inline.ruler.before('autolink', 'labelled', labelledAddress)
  created.inline.ruler.before('autolink', 'html', htmlTag)
  created.block.ruler.before('table', 'depth', keepDeepText)
  created.block.ruler.before('fence', 'math', blockMath, { alt: ['paragraph', 'blockquote', 'list'] })
  created.block.ruler.before('heading', 'prose', keepProse)
  created.block.ruler.at('lheading', underlinedHeading)
  if (fence !== undefined) created.block.ruler.before('code', 'indented', indentedFence(fence))
  if (text !== undefined) created.inline.ruler.at('text', wordsBeforeAddress(text))
  created.block.ruler.at('code', indentedCode)
  created.block.ruler.at('reference', reference, { alt: ['paragraph', 'reference'] })
  return created
}

/** The library takes words up to the next character that could be markup; an address without a scheme is none. */
function wordsBeforeAddress(words: RuleInline): RuleInline {
  return (state, silent) => {
    const from = state.pos
    if (state.src.startsWith('www.', from) || !words(state, silent)) return false
    const at = state.src.slice(from, state.pos).indexOf('www.')
    if (at <= 0) return true
    if (!silent) state.pending = state.pending.slice(0, at - (state.pos - from))
    state.pos = from + at
    return true
  }
}

/** A line break in an answer is meant as one, and the spaces around it belong to the text. */
function keepLineBreak(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 10) return false
  if (!silent) state.pending += '\n'
  state.pos++
  return true
}

const BRACKETED = /<(?:((?:https?|tg):\/\/[^\s<>]+)|([\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+))>/iy

/** An address between angle brackets, which are no part of it; anything else between them is text. */
function bracketedAddress(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false
  BRACKETED.lastIndex = state.pos
  const [whole, address, mail = ''] = BRACKETED.exec(state.src) ?? []
  if (whole === undefined) return false
  if (!silent) {
    const token = state.push('address', '', 0)
    token.content = address ?? mail
    token.info = address ?? `mailto:${mail}`
  }
  state.pos += whole.length
  return true
}

/** A link as Slack writes it, which models that read Slack write as well. */
const LABELLED = /<((?:https?:\/\/|mailto:)[^\s<>|]+)\|([^<>\n]{1,300})>/iy

/** `<https://example.com/plan|the plan>`: a link with its words. */
function labelledAddress(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false
  LABELLED.lastIndex = state.pos
  const [whole, address = '', label = ''] = LABELLED.exec(state.src) ?? []
  if (whole === undefined) return false
  if (!silent) {
    state.push('link_open', 'a', 1).attrSet('href', address)
    state.push('text', '', 0).content = label
    state.push('link_close', 'a', -1)
  }
  state.pos += whole.length
  return true
}

const CITED = /\[(?:(\d{1,4})|\^([^\]\s[]{1,60}))\](?![[(])/y

/** A number in brackets cites a source and keeps its brackets; a footnote that has a text is cited in the same way. */
function citation(state: StateInline, silent: boolean): boolean {
  // A token that begins with a bracket would end the search for the end of a label around it.
  if (silent || state.src.charCodeAt(state.pos) !== 0x5b) return false
  CITED.lastIndex = state.pos
  const found = CITED.exec(state.src)
  if (found === null) return false
  const [whole, number, footnote = ''] = found
  if (number === undefined && !state.env.footnotes?.has(footnote)) return false
  state.pending += `[${number ?? footnote}]`
  state.pos += whole.length
  return true
}

/**
 * Beyond its own nesting limit the library drops content; before that, the rest of the container becomes a paragraph.
 */
function keepDeepText(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (silent || state.level < MAX_DEPTH) return false
  let end = startLine
  while (end < endLine && (state.isEmpty(end) || (state.sCount[end] ?? 0) >= state.blkIndent)) end++
  pushText(state, 'paragraph', startLine, end)
  return true
}

const NUMBER_OF = /#\s+of\s/y

/** `# of items` counts items and heads nothing. */
function keepProse(state: StateBlock, startLine: number, _endLine: number, silent: boolean): boolean {
  if (silent || !matchesAt(NUMBER_OF, state.src, startOf(state, startLine))) return false
  pushText(state, 'paragraph', startLine, startLine + 1)
  return true
}

/**
 * A line over `===` or over four dashes and more is a heading; three dashes below a paragraph are the rule that they
 * look like.
 */
function underlinedHeading(state: StateBlock, startLine: number, endLine: number): boolean {
  const below = startLine + 1
  if (below >= endLine || (state.sCount[below] ?? 0) < state.blkIndent) return false
  if (!/^(?:=+|-{4,})[ \t]*$/.test(state.src.slice(startOf(state, below), state.eMarks[below]))) return false
  pushText(state, 'heading', startLine, below)
  state.line = below + 1
  return true
}

const FENCE = /```|~~~/y

/** A fence may be indented like code: then it is a fence all the same. */
function indentedFence(fence: RuleBlock): RuleBlock {
  return (state, startLine, endLine, silent) => {
    const indent = state.sCount[startLine] ?? 0
    if (indent - state.blkIndent < 4 || !matchesAt(FENCE, state.src, startOf(state, startLine))) return false
    const { blkIndent } = state
    state.blkIndent = indent
    const found = fence(state, startLine, endLine, silent)
    state.blkIndent = blkIndent
    return found
  }
}

const CODE = /[{}()[\];=<>$|\\#]|^\s*(?:sudo|npm|npx|git|cd|pip|docker|curl|make|ls|apt)\s|^\s*[\w./-]+ -{1,2}\w/m

/** Indented lines are code if they look like it; else the indent is the author's. */
function indentedCode(state: StateBlock, startLine: number, endLine: number): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent < 4) return false
  let end = startLine
  for (let line = startLine; line < endLine; line++) {
    if (state.isEmpty(line)) continue
    if ((state.sCount[line] ?? 0) - state.blkIndent < 4) break
    end = line + 1
  }
  const content = state.getLines(startLine, end, 4 + state.blkIndent, false)
  if (!CODE.test(content)) return false
  const token = state.push('code_block', 'code', 0)
  token.content = `${content}\n`
  token.map = [startLine, end]
  state.line = end
  return true
}

const DEFINITION =
  /\[(?!\^)([^\][\n]{1,200})\]:[ \t]+<?([^\s<>]+)>?(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*$/my

/** The address of a link elsewhere; where no link goes there, the line is read as it is written. */
function reference(state: StateBlock, startLine: number, _endLine: number, silent: boolean): boolean {
  DEFINITION.lastIndex = startOf(state, startLine)
  const [, label, address] = DEFINITION.exec(state.src) ?? []
  if (label === undefined || address === undefined || !state.md.validateLink(address)) return false
  if (silent) return true
  const references: Environment['references'] = state.env.references
  const name = state.md.utils.normalizeReference(label)
  const known = Object.hasOwn(references, name)
  const target = known ? undefined : new Reference(state.md.normalizeLink(address))
  if (target !== undefined) references[name] = target
  const token = state.push('definition', '', 0)
  token.content = state.src.slice(startOf(state, startLine), state.eMarks[startLine]).trimEnd()
  token.map = [startLine, startLine + 1]
  token.meta = target
  state.line = startLine + 1
  return true
}

/** A paragraph or heading of whole lines. */
function pushText(state: StateBlock, kind: 'paragraph' | 'heading', startLine: number, end: number): void {
  const tag = kind === 'paragraph' ? 'p' : 'h2'
  state.push(`${kind}_open`, tag, 1).map = [startLine, end]
  const inline = state.push('inline', '', 0)
  inline.content = state.getLines(startLine, end, state.blkIndent, false).trim()
  inline.map = [startLine, end]
  inline.children = []
  state.push(`${kind}_close`, tag, -1)
  state.line = end
}

function startOf(state: StateBlock, line: number): number {
  return (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
}
