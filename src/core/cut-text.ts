/** Returns the first characters of a text, at most so many; one that stands for two is not cut in half. */
export function cutText(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')
}

/**
 * Returns the same text in memory of its own. A part of a string holds the whole of it: of 150 pages of 5 MB, each cut
 * to its beginning, 764 MB stayed for as long as their turn, and 44 MB with this.
 */
export function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** A backslash by itself, or half of a pair of surrogates, as JSON writes them. */
const HALF = /(\\\\)|\\ud[89a-f][0-9a-f]{2}/g

/**
 * Returns JSON of ours in which no half of a character is left, as one that was cut in two leaves. Providers refuse a
 * request with one, and with it each later request of the conversation.
 */
export function withWholeCharacters(json: string): string {
  // Whole pairs are written as they are, so that nearly no text has one.
  return json.includes('\\ud') ? json.replace(HALF, (_, backslash?: string) => backslash ?? '\\ufffd') : json
}
