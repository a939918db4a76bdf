import { typedExcerpt } from './label.ts'

/** Characters that Markdown reads as marks, and the colon of an address. */
const MARKS = /[\\`*_~[\]()<>|#!&$]|:(?=\/\/)|^[-+=]|(?<=^\d{1,9})[.)]/g

/** Returns words as they are, in Markdown: what looks like a mark or a link in them is none. */
export function literal(text: string): string {
  // An entity is no mark wherever it stands; a backslash is one only before what would be a mark there.
  return text.replace(MARKS, (mark) => `&#${mark.charCodeAt(0)};`)
}

/** Returns somebody's words on one line as they were typed, in Markdown. */
export function literalExcerpt(text: string, longest: number): string {
  return literal(typedExcerpt(text, longest))
}
