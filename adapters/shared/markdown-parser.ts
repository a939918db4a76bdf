import MarkdownIt, { type StateBlock, type StateInline } from 'markdown-it'

/** Levels of quote and list (a list takes two) that are understood; what is deeper is text as it came. */
const MAX_DEPTH = 16
/** The library's own limit, never reached by blocks; low because brackets within brackets cost time by this factor. */
const MAX_NESTING = 20

const SAFE_LINK = /^(?:https?:\/\/|tg:\/\/|mailto:)\S+$/i

let parser: MarkdownIt | undefined

/**
 * The one parser instance, made on first use: making it costs start time that a daemon without traffic need not pay.
 */
export function markdownParser(): MarkdownIt {
  parser ??= createParser()
  return parser
}

/**
 * GFM without raw HTML (tags are text) and without guessing links (the platforms do that). Reference definitions are
 * off because an unused one would vanish from the answer. Links with another scheme than the safe ones stay text.
 */
function createParser(): MarkdownIt {
  const created = new MarkdownIt({ html: false })
  Object.assign(created.options, { maxNesting: MAX_NESTING })
  created.validateLink = (url) => SAFE_LINK.test(url)
  // The library's own normalising is half the cost of a text full of links, and the platforms take the address as it
  // is.
  created.normalizeLink = (url) => url.replace(/[\s"<>]/g, encodeURIComponent)
  created.normalizeLinkText = (url) => url
  created.block.ruler.disable(['reference', 'html_block'])
  created.inline.ruler.disable(['linkify', 'html_inline'])
  created.core.ruler.disable(['linkify', 'replacements', 'smartquotes', 'text_join'])
  // The reader of the tokens joins texts itself.
  created.inline.ruler2.disable(['fragments_join'])
  created.inline.ruler.at('newline', keepLineBreak)
  created.block.ruler.before('table', 'depth', keepDeepText)
  return created
}

/** A line break in an answer is meant as one, and the spaces around it belong to the text. */
function keepLineBreak(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 10) return false
  if (!silent) state.pending += '\n'
  state.pos++
  return true
}

/**
 * Beyond its own nesting limit the library drops content; before that, the rest of the container becomes a paragraph.
 */
function keepDeepText(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (silent || state.level < MAX_DEPTH) return false
  let end = startLine
  while (end < endLine && (state.isEmpty(end) || (state.sCount[end] ?? 0) >= state.blkIndent)) end++
  state.push('paragraph_open', 'p', 1).map = [startLine, end]
  const inline = state.push('inline', '', 0)
  inline.content = state.getLines(startLine, end, state.blkIndent, false).trim()
  inline.map = [startLine, end]
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  state.line = end
  return true
}
