/** What a person sees of one message: the words as shown, and which of them are marked. */
export interface Reading {
  readonly text: string
  readonly bold: readonly string[]
  readonly italic: readonly string[]
  readonly code: readonly string[]
  readonly links: readonly string[]
}

export class ReadingBuilder {
  text = ''
  readonly bold: string[] = []
  readonly italic: string[] = []
  readonly code: string[] = []
  readonly links: string[] = []

  add(words: string): void {
    this.text += words
  }

  /** Code in a block stands on lines of its own. */
  addBlock(code: string): void {
    if (this.text !== '' && !this.text.endsWith('\n')) this.text += '\n'
    this.text += code
    this.code.push(code)
  }

  take(other: Reading): void {
    this.text += other.text
    this.bold.push(...other.bold)
    this.italic.push(...other.italic)
    this.code.push(...other.code)
    this.links.push(...other.links)
  }

  /** Without what nobody sees. */
  done(): Reading {
    const clean = (text: string) => text.replaceAll('\u200b', '').replaceAll('\u02cb', '`')
    return {
      text: clean(this.text),
      bold: this.bold.map(clean),
      italic: this.italic.map(clean),
      code: this.code.map(clean),
      links: this.links,
    }
  }
}
