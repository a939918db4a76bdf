import type { TextFormat } from '../channels/adapter.ts'
import type { RenderedPart } from '../core/outbound.ts'

/** Returns true if a part is marked already, so that a repeat is never repeated, not even after a restart. */
export function isRepeat(part: RenderedPart, mark: string): boolean {
  return part.plain.startsWith(mark)
}

/**
 * Returns the part with the mark before it. Where the mark no longer fits, the plain text is shortened: the full text
 * was sent the first time.
 */
export function markRepeat(part: RenderedPart, mark: string, limit: TextFormat['limit']): RenderedPart {
  const plain = `${mark}${part.plain}`
  if (plain.length <= limit) return { ...part, text: `${mark}${part.text}`, plain }
  const cut = `${plain.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
  return { ...part, text: cut, plain: cut, markup: 'plain' }
}
