import { cutText } from '../core/cut-text.ts'
import { fallbackDescription } from '../core/session.ts'

/** Returns a text without what a text column does not give back, at most so long. */
export function shortened(text: string, longest: number): string {
  return cutText(text.replaceAll('\0', '').trim(), longest)
}

/** Marks of a heading, a list or a quotation, as models begin a line with them. */
const MARKS =
  /^(?:#+\s*|[-*+\u2022\u2023\u25E6\u00B7\u2013\u2014]\s+|\d{1,3}[.)]\s+|\[[ xX]?\]\s+|["'\p{Pi}\p{Pf}\u201E]+)+|["'\p{Pi}\p{Pf}]+$/gu

/** Returns the description that a model gives as one line without such marks, as long as the fallback may be (S14). */
export function described(text: string): string {
  return fallbackDescription(shortened(text, 1_000).replace(/\s+/g, ' ').replace(MARKS, ''))
}
