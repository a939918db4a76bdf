import { cutText } from './cut-text.ts'

/**
 * Returns a text as it is searched: without case, marks above letters and their other spellings, so that `STRASSE`
 * finds `Straße` and `a` finds `ä`. NUL, which no query language takes, is a space.
 */
export function foldText(text: string): string {
  return text
    .replace(MARKS, '')
    .normalize('NFKD')
    .replace(MARKS, '')
    .replaceAll('\0', ' ')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFC')
}

/**
 * Marks above letters. They go also before letters are decomposed, for that puts them in order: 100,000 on one letter
 * would take three seconds. Each goes by itself, for the engine throws on a run of millions.
 */
const MARKS = /\p{M}/gu

/** The most words of a query that count. */
const MOST_WORDS = 12

/** Returns the words of a query, folded; the query itself where it has no words, such as an emoji. */
export function searchWords(query: string): readonly string[] {
  const folded = foldText(query)
  const words = [...new Set(folded.match(/[\p{L}\p{N}]+/gu) ?? [])]
  if (words.length > 0) return words.slice(0, MOST_WORDS)
  const other = folded.trim()
  return other === '' ? [] : [cutText(other, 64)]
}

/** Shorter words are in too many texts. */
const SHORTEST_TELLING = 5

/** Returns the words of a text, folded, by which one text may be known to be made of another. */
export function tellingWords(text: string): readonly string[] {
  return (foldText(text).match(/[\p{L}\p{N}]{1,99999}/gu) ?? []).filter((word) => word.length >= SHORTEST_TELLING)
}
