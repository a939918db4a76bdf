/**
 * Returns a text as a URL, or nothing if it is none. In Node 20 and 22 `URL.canParse` says no to an address with a
 * letter such as `ü` once it has been called a few thousand times: it is asked about plain ones alone, where a wrong
 * address costs a twentieth of an exception.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  if (PLAIN.test(text) && PLAIN.test(base ?? '') && !URL.canParse(text, base)) return undefined
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

const PLAIN = /^\p{ASCII}*$/u
