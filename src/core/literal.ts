import { typedExcerpt } from './label.ts'

/** Characters that Markdown reads as marks wherever they stand. */
const MARKS = /[\\`*_~[\]()<>|#!&]/g

/** Returns words as they are, in Markdown: what looks like a mark or a link in them is none. */
export function literal(text: string): string {
  return text
    .replace(MARKS, '\\$&')
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d{1,9})\./, '$1\\.')
}

/** Returns somebody's words on one line as they were typed, in Markdown. */
export function literalExcerpt(text: string, longest: number): string {
  return literal(typedExcerpt(text, longest))
}
