/** Names the items of a line of `config explain`. */
export function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ')
}
