/** C0 and C1 controls, line separators, and the marks that reorder the following text on a screen. */
const UNSAFE = /[\p{Cc}\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes, as `\u001b`, every character that would move the cursor, break the line or reorder it on a terminal. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
