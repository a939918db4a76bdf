import type Token from 'markdown-it/lib/token.mjs'
import {
  type Alignment,
  type Block,
  cutText,
  indentText,
  type ListItem,
  plainText,
  type Run,
  Style,
  type StyledText,
  spellsOut,
} from './document.ts'
import { type Environment, markdownParser, type Reference, SAFE_LINK } from './markdown-parser.ts'
import { mendLines } from './mend-lines.ts'

/**
 * Longer than any answer a model gives; beyond it the text goes out as it is, for parsing costs memory by the
 * character.
 */
const MAX_PARSED = 200_000

/**
 * Nothing here can be Markdown: no character that formats a span, no address, no pair of dollars, and no line that
 * starts like a list, a rule or indented code.
 */
const MARKUP = /[*_~`[\\|&<>#]|:\/\/|\$[^$]*\$|^ *(?:[-+=]|\d+[.)]|\t)|^ {4}/m

/**
 * Model Markdown (GFM: fences, tables, strikethrough, nested lists, quotes, links; raw HTML is text) as a tree.
 * Text without Markdown comes back as one paragraph, character by character as it came. White space alone is no block.
 */
export function parseMarkdown(markdown: string): readonly Block[] {
  const source = cleanText(markdown)
  if (source.trim() === '') return []
  if (source.length > MAX_PARSED || !MARKUP.test(source))
    return [{ kind: 'paragraph', gap: 1, body: plainText(source) }]
  const mended = mendLines(source)
  const environment: Environment = { source: mended, footnotes: footnotesOf(mended), references: Object.create(null) }
  const tokens = markdownParser().parse(mended, environment)
  return new BlockReader(tokens, mended.split('\n')).blocks()
}

/** Names of the footnotes that have a text somewhere in the answer. */
function footnotesOf(source: string): ReadonlySet<string> {
  if (!source.includes('[^')) return new Set()
  return new Set([...source.matchAll(/^ {0,3}\[\^([^\]\s[]{1,60})\]:/gm)].map(([, name = '']) => name))
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
    /** The authors' bullets of the lists among them. */
    const signs = new Map<Block, string>()
    for (let token = this.#next(); token !== undefined && token.nesting >= 0; token = this.#next()) {
      if (token.type === 'fence') found.push(...this.#fence(token))
      const block = this.#block(token)
      if (block === undefined) continue
      found.push(block)
      if (token.type === 'bullet_list_open') signs.set(block, token.markup)
    }
    return found.map((block, index) => withSign(block, [found[index - 1], found[index + 1]], signs))
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
      case 'code_block':
        return { kind: 'code', gap, language: '', text: token.content.replace(/\n$/, '') }
      case 'math':
        if (token.content === '') return { kind: 'code', gap, language: 'latex', text: token.info }
        return { kind: 'paragraph', gap, body: plainText(token.content) }
      case 'definition':
        return (token.meta as Reference | undefined)?.isUsed
          ? undefined
          : { kind: 'paragraph', gap, body: definition(token.content) }
      case 'blockquote_open':
        return { kind: 'quote', gap, blocks: this.blocks() }
      case 'bullet_list_open':
        return { kind: 'list', gap, items: this.#items(token) }
      case 'ordered_list_open':
        return { kind: 'list', gap, items: numbered(this.#items(token), token.markup) }
      case 'table_open':
        return this.#table(gap)
      case 'hr':
        // More than three underscores draw a line to write on.
        if (token.markup.startsWith('____')) return { kind: 'paragraph', gap, body: plainText(token.markup) }
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

  /** A fence, above it what its first line says besides the language. */
  #fence(token: Token): Block[] {
    const gap = this.#gapAbove(token)
    const { language, words } = languageOf(token.info)
    const text = token.content.replace(/\n$/, '')
    // Code that stands on the line of the fence alone.
    if (text.trim() === '' && /\s/.test(token.info.trim())) return [{ kind: 'code', gap, language, text: words }]
    const code: Block = { kind: 'code', gap: words === '' ? gap : 1, language, text }
    return words === '' ? [code] : [{ kind: 'paragraph', gap, body: plainText(words) }, code]
  }

  #items(list: Token): ListItem[] {
    const items: ListItem[] = []
    for (let token = this.#next(); token !== undefined && token.nesting > 0; token = this.#next()) {
      const marker = list.type === 'bullet_list_open' ? undefined : token.info + list.markup
      items.push({ gap: this.#gapAbove(token), marker, blocks: this.blocks() })
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

/** Lists of `-` and of `+` directly above each other are the lines of a difference, and keep their bullets. */
function withSign(
  block: Block,
  [above, below]: readonly [Block | undefined, Block | undefined],
  signs: ReadonlyMap<Block, string>,
): Block {
  const sign = signs.get(block)
  if (block.kind !== 'list' || sign === undefined || sign === '*') return block
  const isOther = (one: Block | undefined) => one !== undefined && signs.get(one) === (sign === '-' ? '+' : '-')
  const differs = (isOther(above) && block.gap === 1) || (isOther(below) && below?.gap === 1)
  return differs ? { ...block, items: block.items.map((item) => ({ ...item, marker: sign })) } : block
}

/** A definition that no link goes to, as it is written; its address is one. */
function definition(text: string): StyledText {
  const start = text.indexOf(']:') + 2 + (/^\s*<?/.exec(text.slice(text.indexOf(']:') + 2))?.[0].length ?? 0)
  const href = /^[^\s<>]+/.exec(text.slice(start))?.[0] ?? ''
  if (!SAFE_LINK.test(href)) return plainText(text)
  return { text, runs: [{ start, end: start + href.length, style: 0, href }] }
}

/** Numbers stay as written; one number before every item means that they count up from it. */
function numbered(items: readonly ListItem[], delimiter: string): readonly ListItem[] {
  const [first] = items
  if (first === undefined || items.length < 2 || items.some(({ marker }) => marker !== first.marker)) return items
  const start = Number.parseInt(first.marker ?? '1', 10)
  return items.map((item, index) => ({ ...item, marker: `${start + index}${delimiter}` }))
}
/** Names that a fence may give its language. */
const LANGUAGES = new Set(
  (
    'abap ada apache apl arduino asciidoc asm assembly astro awk bash basic bat batch bib bibtex brainfuck c c# c++ caddy ' +
    'cfg clj clojure cmake cmd cobol coffee coffeescript conf config console cpp cron crontab cs csharp csproj css csv cu ' +
    'cuda cypher d dart diff django docker dockerfile dos dot dotenv elisp elixir elm env erb erlang ex exs f# fish ' +
    'flow fortran fs fsharp gdscript gherkin git gitignore glsl gn go golang gql gradle graphql graphviz groovy h haml ' +
    'handlebars haskell hbs hcl heex hlsl hpp hs htm html http httpd ini ino java javascript jinja jinja2 jl js json ' +
    'json5 jsonc jsonl jsx julia kotlin kt kts latex less liquid lisp log lua make makefile markdown mathematica matlab ' +
    'md mdx mermaid mips mjs ml mysql nasm nginx nim nix node objc objective-c objectivec ocaml octave pascal patch perl ' +
    'pgsql php pl plain plaintext plantuml plsql po postgres postgresql powershell prisma prolog promql properties proto ' +
    'protobuf ps ps1 psql pug puppet purescript pwsh py py3 pycon pyi python python3 qml r r-lang racket rb rd re reason ' +
    'regex regexp rest rs rst ruby rust sas sass scala scheme scm scss sed sh shell shell-session shellscript sol ' +
    'solidity sparql sql sqlite stata stylus svelte svg swift systemd systemverilog tcl terminal terraform tex text tf toml ' +
    'ts tsql tsv tsx twig txt typescript typst v vala vb vb.net vba vbnet vbs verilog vhdl vim viml vue wasm wat wgsl xhtml ' +
    'xml xsl xslt yaml yml zig zsh'
  ).split(' '),
)

/** The language that a fence's first line names, and what else it says: a file, or whatever names no language. */
function languageOf(info: string): { readonly language: string; readonly words: string } {
  const line = info.trim()
  const [, name = '', rest = ''] = /^(?:\{\.)?([\w+#.-]{1,32})\}?(?:[:,]|(?=[\s{])|$)\s*([\s\S]*)$/.exec(line) ?? []
  if (!LANGUAGES.has(name.toLowerCase())) return { language: '', words: line }
  // The numbers of lines to mark are for a page that marks them.
  if (/^\{[\d\s,-]*\}$/.test(rest)) return { language: name, words: '' }
  const [, file] = /^(?:title|file|filename|name|path)=["']?([^"']+)["']?$/.exec(rest) ?? []
  return { language: name, words: file ?? rest }
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
  for (const [index, { start, end, href }] of cell.runs.entries()) {
    const next = cell.runs[index + 1]
    if (href === undefined || (next?.href === href && next.start === end)) continue
    const label = cell.text.slice(start, end)
    text += cell.text.slice(at, end) + (spellsOut(label, href) ? '' : ` (${href})`)
    at = end
  }
  return text + cell.text.slice(at)
}

type Growing = { -readonly [Key in keyof Run]: Run[Key] }

const BITS: Readonly<Record<string, number>> = { strong: Style.bold, em: Style.italic, s: Style.strike }

/**
 * Inline tokens of the Markdown parser as text with runs; an image becomes a link to it, and an address that the
 * platforms do not open stands behind its label.
 */
function readInline(tokens: readonly Token[]): StyledText {
  const reader = new InlineReader()
  for (const token of tokens) reader.take(token)
  return reader.read()
}

/** The parser lets an empty address pass its check (`[x]()`): that is no link. */
function addressOf(attribute: string | null): string | undefined {
  return attribute === null || attribute === '' ? undefined : attribute
}

class InlineReader {
  text = ''
  readonly runs: Growing[] = []
  #style = 0
  #href: string | undefined
  /** Counts the open bold, italic and strike, by bit: the same style may be nested in itself. */
  readonly #open = [0, 0, 0, 0, 0]
  /** An address that is not opened, and where its label begins. */
  #linkedFrom = 0
  #unopened: { readonly address: string; readonly from: number } | undefined
  /** Written before the next words: the line break at the border of a block, the bullet of an item. */
  #due = ''

  read(): StyledText {
    if (this.#due === '' || !this.text.endsWith('\n')) return { text: this.text, runs: this.runs }
    // The line break before a closing tag is one with its own.
    return cutText({ text: this.text, runs: this.runs }, this.text.trimEnd().length)[0]
  }

  take(token: Token): void {
    switch (token.type) {
      case 'address':
        this.#add(token.content, this.#style, this.#href ?? (SAFE_LINK.test(token.info) ? token.info : undefined))
        break
      case 'html':
        this.#tag(token)
        break
      case 'code_inline':
        this.#add(token.content, this.#style | Style.code, this.#href)
        break
      case 'hardbreak':
        this.#add('\n', this.#style, this.#href)
        break
      case 'link_open':
        this.#link(addressOf(token.attrGet('href')))
        break
      case 'link_close':
        this.#endLink()
        break
      case 'image':
        this.#image(token)
        break
      default:
        if (token.nesting === 0) this.#add(token.content, this.#style, this.#href)
        else this.#toggle(BITS[token.tag] ?? 0, token.nesting)
    }
  }

  #image(token: Token): void {
    const source = addressOf(token.attrGet('src'))
    const label = token.children === null ? token.content : readInline(token.children).text
    const outer = this.#href
    if (outer === undefined) this.#link(source)
    this.#add(label === '' ? (source ?? '') : label, this.#style, this.#href)
    if (outer === undefined) this.#endLink()
  }

  #link(address: string | undefined): void {
    this.#linkedFrom = this.text.length
    if (address === undefined || SAFE_LINK.test(address)) this.#href = address
    else if (/[\p{L}\p{N}]$/u.test(this.text)) {
      // Behind a word, brackets are an index and its call.
      this.#add('[', this.#style, undefined)
      this.#unopened = { address, from: -1 }
    } else this.#unopened = { address, from: this.text.length }
  }

  #endLink(): void {
    // A link without words is its address.
    if (this.#href !== undefined && this.text.length === this.#linkedFrom)
      this.#add(this.#href, this.#style, this.#href)
    this.#href = undefined
    if (this.#unopened === undefined) return
    const { address, from } = this.#unopened
    this.#unopened = undefined
    if (from === -1) this.#add(`](${address})`, this.#style, undefined)
    else if (!address.startsWith('#') && this.text.slice(from) !== address)
      this.#add(` (${address})`, this.#style, undefined)
  }

  /** A tag of HTML: `/` before the name of a style ends it, and a tag of a block stands for a line of its own. */
  #tag(token: Token): void {
    const name = token.tag.replace('/', '')
    const nesting = token.tag.startsWith('/') ? -1 : 1
    if (token.block) this.#due = token.tag === 'li' ? '\n\u2022 ' : this.#due || '\n'
    if (name === 'br') this.#add('\n', this.#style, this.#href)
    else if (name === 'hr') this.#due = '\n\u2014\u2014\u2014\n'
    else if (name === 'img') this.#image(token)
    else if (name === 'a' && nesting === 1) this.#link(addressOf(token.attrGet('href')))
    else if (name === 'a') this.#endLink()
    else if (BITS[name] !== undefined) this.#toggle(BITS[name], nesting)
  }

  #toggle(bit: number, nesting: number): void {
    const depth = (this.#open[bit] ?? 0) + nesting
    this.#open[bit] = depth
    this.#style = depth > 0 ? this.#style | bit : this.#style & ~bit
  }

  #add(words: string, style: number, href: string | undefined): void {
    const content = this.#due === '' ? words : words.replace(/^\s*\n\s*/, '')
    if (content === '') return
    if (this.#due !== '') this.text += this.text === '' || this.text.endsWith('\n') ? this.#due.trimStart() : this.#due
    this.#due = ''
    const start = this.text.length
    this.text += content
    const end = this.text.length
    if (style === 0 && href === undefined) return
    const last = this.runs.at(-1)
    if (last !== undefined && last.end === start && last.style === style && last.href === href) last.end = end
    else this.runs.push({ start, end, style, href })
  }
}
