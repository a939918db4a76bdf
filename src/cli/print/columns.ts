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

/** A row of a table, and what does not fit into it. */
export interface NotedRow {
  readonly cells: readonly string[]
  /** Stands below the row, on as many lines as it needs. */
  readonly note: string
}

/** Returns a table that is no wider than `width`: the last column is cut, and notes are broken between words. */
export function notedColumns(titles: readonly string[], rows: readonly NotedRow[], width: number): string[] {
  const [header = '', ...lines] = columns([titles, ...rows.map(({ cells }) => cells)], width)
  return [
    header,
    ...lines.flatMap((line, at) => [line, ...wrapped(rows[at]?.note ?? '', width, GAP).map((one) => clip(one, width))]),
  ]
}

/** Returns a text as lines, broken between words; a longer word has a line of its own, in full: it may be a path. */
export function wrapped(text: string, width: number, indent: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    const longer = last === undefined ? `${indent}${word}` : `${last} ${word}`
    if (last !== undefined && stringWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(`${indent}${word}`)
  }
  return lines
}

/** Breaks a line between words; what follows keeps its indentation, and no word is cut: it may be an address. */
export function broken(line: string, width: number): string[] {
  const indent = /^ *(?:- |\d+\. |\S+ {2,})?/.exec(line)?.[0].length ?? 0
  const lines: string[] = []
  for (const word of line.slice(indent).split(' ')) {
    const last = lines.at(-1)
    const longer = last === undefined ? `${line.slice(0, indent)}${word}` : `${last} ${word}`
    if (last === undefined || stringWidth(longer) <= width) lines.splice(-1, 1, longer)
    else lines.push(`${' '.repeat(indent)}${word}`)
  }
  return lines.map((one) => one.trimEnd())
}

/** Cuts the title of a place to `width` columns: that of a chat first, for it may have many topics. */
export function clipTitle(title: string, width: number): string {
  const at = title.lastIndexOf(TOPIC)
  const topic = at === -1 ? '' : clip(title.slice(at), Math.floor(width / 2))
  return `${clip(at === -1 ? title : title.slice(0, at), Math.max(width - stringWidth(topic), 1))}${topic}`
}

const TOPIC = ' › '

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
