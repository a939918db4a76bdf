import stringWidth from 'string-width'

const GAP = '  '
const GRAPHEMES = new Intl.Segmenter()

/**
 * Returns rows as aligned lines, two spaces apart and none at the end. Cells are one-line texts; if `width` is given,
 * the last column is cut to fit it.
 */
export function columns(rows: readonly (readonly string[])[], width?: number): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, stringWidth(cell))
  }
  return rows.map((row) => {
    const line = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - stringWidth(cell))).join(GAP)
    return clip(line.trimEnd(), width)
  })
}

/** Cuts a line to `width` columns, with a mark that something is missing. */
export function clip(line: string, width?: number): string {
  if (width === undefined || stringWidth(line) <= width) return line
  let used = 0
  let kept = ''
  for (const { segment } of GRAPHEMES.segment(line)) {
    used += stringWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}
