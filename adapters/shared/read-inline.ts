import type Token from 'markdown-it/lib/token.mjs'
import { cutText, type Run, Style, type StyledText } from './document.ts'
import { SAFE_LINK } from './markdown-parser.ts'

type Growing = { -readonly [Key in keyof Run]: Run[Key] }

const BITS: Readonly<Record<string, number>> = { strong: Style.bold, em: Style.italic, s: Style.strike }

/**
 * Inline tokens of the Markdown parser as text with runs; an image becomes a link to it, and an address that the
 * platforms do not open stands behind its label.
 */
export function readInline(tokens: readonly Token[]): StyledText {
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
    if (address === undefined || SAFE_LINK.test(address)) this.#href = address
    else if (/[\p{L}\p{N}]$/u.test(this.text)) {
      // Behind a word, brackets are an index and its call.
      this.#add('[', this.#style, undefined)
      this.#unopened = { address, from: -1 }
    } else this.#unopened = { address, from: this.text.length }
  }

  #endLink(): void {
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
