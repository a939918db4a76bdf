import type { Alignment, TableBlock } from './document.ts'

/** Wider cells are not padded for: one long cell must not blow up every row of the answer. */
const MAX_COLUMN = 32

/** Ours, because the start would load string-width, whose expression of every emoji costs it 35 ms (`bench start`). */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}/u
const NO_WIDTH = /[\p{M}\p{Cf}]/u

export interface AlignedTable {
  /** Header and the line under it, each with its line break: repeated where the table is cut. */
  readonly header: string
  /** One line a row, joined by line breaks. */
  readonly rows: string
}

/** A table as monospace lines, columns padded to their widest cell (up to a limit), nothing behind the last cell. */
export function alignTable(table: TableBlock): AlignedTable {
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
