/** A backslash by itself, or half of a pair of surrogates, as JSON writes them. */
const HALF = /(\\\\)|\\ud[89a-f][0-9a-f]{2}/g

/**
 * Returns JSON in which no half of a character is left. Providers refuse a request with one, and with it each later
 * request of the conversation: a tool, a hook or a platform may have written it.
 */
export function withWholeCharacters(json: string): string {
  // Whole pairs are written as they are, so that nearly no request has one.
  return json.includes('\\ud') ? json.replace(HALF, (_, backslash?: string) => backslash ?? '\\ufffd') : json
}

/**
 * Returns the same text in memory of its own. A part of a string holds the whole of it: of 150 pages of 5 MB, each cut
 * to its beginning, 764 MB stayed for as long as their turn, and 44 MB with this.
 */
export function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
