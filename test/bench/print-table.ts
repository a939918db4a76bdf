import type { Row, Values } from './row.ts'

const HEADS = ['what', 'unit', 'goal', '', 'Parley', 'grammY', 'telegraf', 'bare HTTP', '÷ grammY', '÷ telegraf']
const NUMBERS_FROM = 4

/** The table as lines of text, the columns aligned. */
export function printTable(rows: readonly Row[]): string {
  const cells = [HEADS, ...rows.map(cellsOf)]
  const widths = HEADS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const lines = cells.map((line) =>
    line
      .map((cell, column) => pad(cell, column, widths))
      .join('  ')
      .trimEnd(),
  )
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}

function cellsOf({ what, unit, goal, values }: Row): string[] {
  const met = goal?.met(values)
  const verdict = met === undefined ? '' : met ? '✓' : '✗'
  const { Parley, grammY, telegraf } = values
  const measured = [Parley, grammY, telegraf, values['bare HTTP']].map(figure)
  return [what, unit, goal?.text ?? '', verdict, ...measured, ratio(values, grammY), ratio(values, telegraf)]
}

function ratio({ Parley }: Values, other: number | undefined): string {
  return Parley === undefined || other === undefined ? '' : (Parley / other).toFixed(2)
}

/** Three digits that say something, whatever the size. */
function figure(value: number | undefined): string {
  if (value === undefined) return ''
  if (value >= 100 || value === 0) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}

function pad(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0
  return column >= NUMBERS_FROM ? cell.padStart(width) : cell.padEnd(width)
}
