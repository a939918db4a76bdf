import {
  type Alignment,
  type Block,
  indentText,
  type ListBlock,
  plainText,
  type Run,
  Style,
  type StyledText,
  type TableBlock,
} from './document.ts'

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
        this.#code({ text: rows === '' ? header.trimEnd() : header + rows, language: '', header }, block.gap, place)
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
  const runs: Run[] = []
  const add = (start: number, end: number, { style, href }: Pick<Run, 'style' | 'href'>): void => {
    const last = runs.at(-1)
    const isOne = last !== undefined && last.end === start && last.style === style && last.href === href
    if (isOne) runs[runs.length - 1] = { ...last, end }
    else if (end > start) runs.push({ start, end, style, href })
  }
  const plain = { style: Style.bold, href: undefined }
  let at = 0
  for (const run of body.runs) {
    add(at, run.start, plain)
    add(run.start, run.end, { style: run.style | Style.bold, href: run.href })
    at = run.end
  }
  add(at, body.text.length, plain)
  return { text: body.text, runs }
}

/** Wider cells are not padded for: one long cell must not blow up every row of the answer. */
const MAX_COLUMN = 32

/** Ours, because the start would load string-width, whose expression of every emoji costs it 35 ms (`bench start`). */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}/u
const NO_WIDTH = /[\p{M}\p{Cf}]/u

interface AlignedTable {
  /** Header and the line under it, each with its line break: repeated where the table is cut. */
  readonly header: string
  /** One line a row, joined by line breaks. */
  readonly rows: string
}

/** A table as monospace lines, columns padded to their widest cell (up to a limit), nothing behind the last cell. */
function alignTable(table: TableBlock): AlignedTable {
  const widths = columnWidths(table)
  const [header = '', ...rows] = table.rows.map((row) => alignRow(row, widths, table.columns))
  const line = widths.map((width) => '-'.repeat(width)).join('-|-')
  return { header: `${header}\n${line}\n`, rows: rows.join('\n') }
}

function columnWidths(table: TableBlock): number[] {
  const widths = table.columns.map(() => 1)
  for (const row of table.rows) {
    for (const [column, cell] of row.entries()) {
      const width = Math.min(Math.max(...cell.split('\n').map(displayWidth)), MAX_COLUMN)
      if (width > (widths[column] ?? 0)) widths[column] = width
    }
  }
  return widths
}

/** A row has as many lines as its tallest cell. */
function alignRow(row: readonly string[], widths: readonly number[], columns: readonly Alignment[]): string {
  if (!row.some((cell) => cell.includes('\n'))) return alignLine(row, widths, columns)
  const cells = row.map((cell) => cell.split('\n'))
  const height = Math.max(...cells.map((lines) => lines.length))
  const lines = Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ''))
  return lines.map((line) => alignLine(line, widths, columns)).join('\n')
}

function alignLine(row: readonly string[], widths: readonly number[], columns: readonly Alignment[]): string {
  // Cells the source left out at the end of a row are not drawn: they could be thousands.
  const filled = row.findLastIndex((cell) => cell !== '') + 1
  const cells = row.slice(0, filled).map((cell, column) => pad(cell, widths[column] ?? 0, columns[column] ?? 'left'))
  return cells.join(' | ').trimEnd()
}

function pad(cell: string, width: number, alignment: Alignment): string {
  const space = Math.max(0, width - displayWidth(cell))
  const left = alignment === 'left' ? 0 : alignment === 'right' ? space : space >> 1
  return ' '.repeat(left) + cell + ' '.repeat(space - left)
}

/** Returns the width of a text in a monospace font, in columns: ideographs and emoji take two, marks none. */
function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
