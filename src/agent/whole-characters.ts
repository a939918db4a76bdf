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

/** Returns what `fetch` does, for the requests of a client library. */
export function fetchWithWholeCharacters(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  return fetch(url, typeof init.body === 'string' ? { ...init, body: withWholeCharacters(init.body) } : init)
}
