import type Token from 'markdown-it/lib/token.mjs'
import { type Run, Style, type StyledText } from './document.ts'

type Growing = { -readonly [Key in keyof Run]: Run[Key] }

const BITS: Readonly<Record<string, number>> = { strong: Style.bold, em: Style.italic, s: Style.strike }

/** Inline tokens of the Markdown parser as text with runs; an image becomes a link to it. */
export function readInline(tokens: readonly Token[]): StyledText {
  const reader = new InlineReader()
  for (const token of tokens) reader.take(token)
  return { text: reader.text, runs: reader.runs }
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

  take(token: Token): void {
    switch (token.type) {
      case 'code_inline':
        this.#add(token.content, this.#style | Style.code, this.#href)
        break
      case 'hardbreak':
        this.#add('\n', this.#style, this.#href)
        break
      case 'link_open':
        this.#href = addressOf(token.attrGet('href'))
        break
      case 'link_close':
        this.#href = undefined
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
    const label = readInline(token.children ?? []).text
    this.#add(label === '' ? (source ?? '') : label, this.#style, this.#href ?? source)
  }

  #toggle(bit: number, nesting: number): void {
    const depth = (this.#open[bit] ?? 0) + nesting
    this.#open[bit] = depth
    this.#style = depth > 0 ? this.#style | bit : this.#style & ~bit
  }

  #add(content: string, style: number, href: string | undefined): void {
    const start = this.text.length
    this.text += content
    const end = this.text.length
    if (start === end || (style === 0 && href === undefined)) return
    const last = this.runs.at(-1)
    if (last !== undefined && last.end === start && last.style === style && last.href === href) last.end = end
    else this.runs.push({ start, end, style, href })
  }
}
