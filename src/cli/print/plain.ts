/**
 * Chat text is written by strangers: characters that move the cursor, colour the screen or turn the reading direction
 * are replaced by visible ones. Line breaks stay.
 */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

export function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(UNSAFE, (char) => (char === '\n' ? char : char === '\t' ? ' ' : '\ufffd'))
}

/** Returns a text as one line. */
export function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, ' ').trim()
}

/** Returns a number with what is counted: `1 turn`, `2 turns`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Returns JSON for a terminal or a pipe: the same value, with every character a terminal might obey escaped. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2)
  return `${text.replace(UNSAFE, (char) => (char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`))}\n`
}
