const GAP = '  '
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NO_WIDTH = /[\p{M}\p{Cf}]/u

/**
 * Returns rows as aligned lines, two spaces apart and none at the end. Cells are one-line texts; if `width` is given,
 * the last column is cut to fit it.
 */
export function columns(rows: readonly (readonly string[])[], width?: number): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell))
  }
  return rows.map((row) => {
    const line = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - displayWidth(cell))).join(GAP)
    return clip(line.trimEnd(), width)
  })
}

/** Cuts a line to `width` columns, with a mark that something is missing. */
export function clip(line: string, width?: number): string {
  if (width === undefined || displayWidth(line) <= width) return line
  let used = 0
  let kept = ''
  for (const character of line) {
    used += displayWidth(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Returns the width of a text in a terminal, in columns: two for ideographs and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
