/** The candidate a mistyped word most likely meant: at most a third of its letters differ. */
export function nearMatch(word: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3))
  let best: string | undefined
  let least = allowed + 1
  for (const candidate of candidates) {
    const distance = editDistance(visible(word), visible(candidate))
    if (distance >= least) continue
    best = candidate
    least = distance
  }
  return best
}

function visible(word: string): string {
  return word.replace(/\p{Cf}/gu, '').toLowerCase()
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
        swapped ? cell(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return cell(last, to.length)
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
