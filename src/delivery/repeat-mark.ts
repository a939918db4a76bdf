import type { TextFormat } from '../channels/adapter.ts'
import { cutText } from '../core/cut-text.ts'
import type { RenderedPart } from '../core/outbound.ts'
import { withoutFile } from './plan-reply.ts'

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
  const cut = `${cutText(plain, limit - 1)}…`
  return { ...part, text: cut, plain: cut, markup: 'plain' }
}

/** Returns the part as its marked repeat. A recording has no place for the mark: its text is repeated instead. */
export function repeated(part: RenderedPart, { limit, captionLimit = limit }: TextFormat, mark: string): RenderedPart {
  const text = part.file?.as === 'voice' ? withoutFile(part) : part
  return markRepeat(text, mark, text.file === undefined ? limit : captionLimit)
}
