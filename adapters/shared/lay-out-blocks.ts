import { alignTable } from './align-table.ts'
import { type Block, indentText, type ListBlock, plainText, Style, type StyledText } from './document.ts'

/**
 * A stretch of an answer that is shown in one way: running text or a code block. What a list or a heading means is
 * already spelled out in it (bullets, numbers, indent, bold), because few platforms have a notion of either.
 */
export interface Passage {
  readonly kind: 'text' | 'code'
  readonly body: StyledText
  /** The language of a code block; empty if unknown. */
  readonly language: string
  readonly quoted: boolean
  /** Line breaks to the passage above; not shown at the start of a part. */
  readonly gap: string
  /** Lines of a table to repeat where it is cut; the body begins with them. Empty for anything else. */
  readonly header: string
  /** A heading should not be the last thing of a part. */
  readonly heading: boolean
}

interface Place {
  /** Put before the first line (a list marker) and before each further line. */
  readonly first: string
  readonly rest: string
  readonly quoted: boolean
  /** Levels of list around. */
  readonly depth: number
}

const RULE = '———'

/** The tree as a row of passages, in reading order. */
export function layOutBlocks(blocks: readonly Block[]): readonly Passage[] {
  const layout = new Layout()
  layout.place(blocks, { first: '', rest: '', quoted: false, depth: 0 })
  return layout.passages
}

class Layout {
  readonly passages: Passage[] = []

  place(blocks: readonly Block[], place: Place): void {
    for (const [index, block] of blocks.entries()) {
      this.#block(block, index === 0 ? place : { ...place, first: place.rest })
    }
  }

  #block(block: Block, place: Place): void {
    switch (block.kind) {
      case 'paragraph':
        this.#text(block.body, block.gap, place)
        break
      case 'heading':
        this.#text(embolden(block.body), block.gap, place, true)
        break
      case 'rule':
        this.#text(plainText(RULE), block.gap, place)
        break
      case 'list':
        this.#list(block, place)
        break
      case 'quote':
        // Its frame shows where it belongs; only a list marker is kept.
        this.place(block.blocks, { ...place, first: isMarked(place) ? place.first : '', rest: '', quoted: true })
        break
      case 'code':
        this.#code({ text: block.text, language: block.language, header: '' }, block.gap, place)
        break
      case 'table': {
        const { header, rows } = alignTable(block)
        this.#code({ text: header + rows, language: '', header }, block.gap, place)
      }
    }
  }

  #list(list: ListBlock, place: Place): void {
    for (const [index, item] of list.items.entries()) {
      const marker = `${item.marker ?? (place.depth === 0 ? '\u2022' : '\u25e6')} `
      const inside = {
        first: (index === 0 ? place.first : place.rest) + marker,
        rest: place.rest + ' '.repeat(marker.length),
        quoted: place.quoted,
        depth: place.depth + 1,
      }
      const [first, ...others] = item.blocks
      // The first block stands on the marker's line, so the gap above it is the item's.
      const blocks = first === undefined ? [emptyParagraph(item.gap)] : [{ ...first, gap: item.gap }, ...others]
      this.place(blocks, inside)
    }
  }

  #text(body: StyledText, gap: number, place: Place, heading = false): void {
    const indented = indentText(body, place.first, place.rest)
    // An empty block (such as a heading without text) takes no place; the same goes for code below.
    if (indented.text === '') return
    this.passages.push({
      kind: 'text',
      body: indented,
      language: '',
      quoted: place.quoted,
      gap: '\n'.repeat(gap),
      header: '',
      heading,
    })
  }

  #code(code: { text: string; language: string; header: string }, gap: number, place: Place): void {
    // Code cannot stand behind a list marker, so the marker gets a line of its own.
    const marked = isMarked(place)
    if (marked) this.#text(plainText(''), gap, place)
    if (code.text === '') return
    this.passages.push({
      kind: 'code',
      body: plainText(code.text),
      language: code.language,
      quoted: place.quoted,
      gap: '\n'.repeat(marked ? 1 : gap),
      header: code.header,
      heading: false,
    })
  }
}

function isMarked(place: Place): boolean {
  return place.first !== place.rest
}

function emptyParagraph(gap: number): Block {
  return { kind: 'paragraph', gap, body: plainText('') }
}

/** The whole text bold, what formatting it has kept; code and links stay what they are. */
function embolden(body: StyledText): StyledText {
  const runs = []
  let at = 0
  for (const run of body.runs) {
    if (run.start > at) runs.push({ start: at, end: run.start, style: Style.bold, href: undefined })
    runs.push({ ...run, style: run.style | Style.bold })
    at = run.end
  }
  if (at < body.text.length) runs.push({ start: at, end: body.text.length, style: Style.bold, href: undefined })
  return { text: body.text, runs }
}
