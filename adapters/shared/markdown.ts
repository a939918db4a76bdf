import type Token from 'markdown-it/lib/token.mjs'
import { type Alignment, type Block, indentText, type ListItem, plainText, type StyledText } from './document.ts'
import { markdownParser } from './markdown-parser.ts'
import { readInline } from './read-inline.ts'

/**
 * Longer than any answer a model gives; beyond it the text goes out as it is, for parsing costs memory by the
 * character.
 */
const MAX_PARSED = 200_000

/**
 * Nothing here can be Markdown: no character that formats a span, and no line that starts like a list, a rule or
 * indented code.
 */
const MARKUP = /[*_~`[\\|&<>#]|^ *(?:[-+=]|\d+[.)]|\t)|^ {4}/m

/**
 * Model Markdown (GFM: fences, tables, strikethrough, nested lists, quotes, links; raw HTML is text) as a tree.
 * Text without Markdown comes back as one paragraph, character by character as it came. White space alone is no block.
 */
export function parseMarkdown(markdown: string): readonly Block[] {
  const source = cleanText(markdown)
  if (source.trim() === '') return []
  if (source.length > MAX_PARSED || !MARKUP.test(source))
    return [{ kind: 'paragraph', gap: 1, body: plainText(source) }]
  const tokens = markdownParser().parse(source, {})
  return new BlockReader(tokens, source.split('\n')).blocks()
}

/** Nothing in the text is Markdown and nothing has to be cleaned: parsing gives it back as it is. */
export function isBareText(text: string): boolean {
  return !MARKUP.test(text) && !UNCLEAN.test(text)
}

/** The text as one paragraph, nothing in it taken for Markdown. */
export function literalText(text: string): readonly Block[] {
  return [{ kind: 'paragraph', gap: 1, body: plainText(cleanText(text)) }]
}

/** Matches the characters that `cleanText` changes. */
const UNCLEAN = /[\r\u2028\u2029\p{Cs}]|[^\P{Cc}\n\t]/u

/**
 * Cleans a text for every platform: lone surrogates become U+FFFD, control characters are removed, line ends become
 * `\n`.
 */
function cleanText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
}

/** Walks the parser's flat token list. Depth of recursion is bounded by the parser's depth rule. */
class BlockReader {
  readonly #tokens: readonly Token[]
  readonly #lines: readonly string[]
  #at = 0

  constructor(tokens: readonly Token[], lines: readonly string[]) {
    this.#tokens = tokens
    this.#lines = lines
  }

  /** Blocks up to the next token that closes their container, which is consumed. */
  blocks(): Block[] {
    const found: Block[] = []
    for (let token = this.#next(); token !== undefined && token.nesting >= 0; token = this.#next()) {
      const block = this.#block(token)
      if (block !== undefined) found.push(block)
    }
    return found
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++]
  }

  #block(token: Token): Block | undefined {
    const gap = this.#gapAbove(token)
    switch (token.type) {
      case 'paragraph_open':
        return { kind: 'paragraph', gap, body: this.#paragraph(token) }
      case 'heading_open':
        return { kind: 'heading', gap, body: this.#inline() }
      case 'fence':
      case 'code_block':
        return { kind: 'code', gap, language: languageOf(token.info), text: token.content.replace(/\n$/, '') }
      case 'blockquote_open':
        return { kind: 'quote', gap, blocks: this.blocks() }
      case 'bullet_list_open':
        return { kind: 'list', gap, start: undefined, delimiter: '', items: this.#items() }
      case 'ordered_list_open':
        return {
          kind: 'list',
          gap,
          start: Number(token.attrGet('start') ?? 1),
          delimiter: token.markup,
          items: this.#items(),
        }
      case 'table_open':
        return this.#table(gap)
      case 'hr':
        return { kind: 'rule', gap }
      default:
        return undefined
    }
  }

  /**
   * Line breaks between the block and the text above it, as the source has them; a line of only `>` counts as empty.
   */
  #gapAbove(token: Token): number {
    let line = token.map?.[0] ?? 0
    let gap = 1
    while (line > 0 && /^[\s>]*$/.test(this.#lines[line - 1] ?? '')) {
      line--
      gap++
    }
    return gap
  }

  #paragraph(token: Token): StyledText {
    const body = this.#inline()
    // The parser trims the first line; at the top level its indent is the author's.
    const indent = token.level === 0 ? /^[ \t]*/.exec(this.#lines[token.map?.[0] ?? 0] ?? '')?.[0] : ''
    return indentText(body, indent ?? '', '')
  }

  /** The one inline token of a paragraph, heading or cell, and its closing token. */
  #inline(): StyledText {
    const inline = this.#next()
    this.#at++
    return readInline(inline?.children ?? [])
  }

  #items(): ListItem[] {
    const items: ListItem[] = []
    for (let token = this.#next(); token !== undefined && token.nesting > 0; token = this.#next()) {
      items.push({ gap: this.#gapAbove(token), blocks: this.blocks() })
    }
    return items
  }

  #table(gap: number): Block {
    const columns: Alignment[] = []
    const rows: string[][] = []
    for (let token = this.#next(); token !== undefined && token.type !== 'table_close'; token = this.#next()) {
      if (token.type === 'tr_open') rows.push([])
      if (token.type === 'th_open') columns.push(alignmentOf(token))
      if (token.type === 'th_open' || token.type === 'td_open') rows.at(-1)?.push(cellText(this.#inline()))
    }
    return { kind: 'table', gap, columns, rows }
  }
}

/** First word of a fence's info line, if it could be a language's name. */
function languageOf(info: string): string {
  return /^[\w+#.-]{1,32}(?=$|\s)/.exec(info.trim())?.[0] ?? ''
}

function alignmentOf(token: Token): Alignment {
  const style = token.attrGet('style') ?? ''
  if (style.endsWith('right')) return 'right'
  return style.endsWith('center') ? 'center' : 'left'
}

/** A cell cannot carry a link, so the address stands behind its label. */
function cellText(cell: StyledText): string {
  let text = ''
  let at = 0
  for (const { start, end, href } of cell.runs) {
    const label = cell.text.slice(start, end)
    text += cell.text.slice(at, end) + (href === undefined || href === label ? '' : ` (${href})`)
    at = end
  }
  return text + cell.text.slice(at)
}
