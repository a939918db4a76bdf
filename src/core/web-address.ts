import { parseUrl } from './parse-url.ts'

const SEPARATORS = /[\s<>"`|\\^{}]+/
/** A word that people write for an address, without a scheme. */
const BARE = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?\.\p{L}{2,}(?::\d{1,5})?(?:[/?#].*)?$/u
const NOT_PLAIN = /[^\p{ASCII}]|%/u
const BEFORE = /^[\p{Ps}\p{Pi}'*_~]+/u
/** Characters that end a sentence or a bracket; most of them may be part of an address as well. */
const AFTER = /[.,;:!?\p{Pe}\p{Pi}\p{Pf}'\u2026*_~]$/u
const MOST_MARKS = 6

/** Returns true for a host that one of the patterns names: exactly, or `*.example.org` for all names below it. */
export function isAllowedHost(patterns: readonly string[], { hostname }: Pick<URL, 'hostname'>): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith('*.') ? hostname.endsWith(pattern.slice(1)) : hostname === pattern,
  )
}

/** Returns the form in which two addresses are compared: without scheme and fragment. */
export function addressKey({ host, pathname, search }: URL): string {
  return `${host}${pathname}${search}`
}

/**
 * Returns the keys of the web addresses in a text, those without a scheme too. A mark behind an address may be part of
 * it or not, so that it is there in both forms.
 */
export function addressesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(SEPARATORS).flatMap((word) => formsOf(word).flatMap(keyOf)))
}

/** Words that were read as an address, of all texts that one is looked for in. */
export interface AddressBudget {
  words: number
}

/**
 * Returns true if the address of that key stands in a text. Only words that can be it are read, and no more than are
 * left: whoever fills a conversation with addresses could otherwise keep the process busy for seconds.
 */
export function hasAddress(text: string, key: string, left: AddressBudget): boolean {
  const host = key.replace(/(?::\d+)?[/?].*$/s, '')
  if (left.words <= 0 || !mayHold(text, host)) return false
  return text.split(SEPARATORS).some((word) => {
    if (!/[.:]/.test(word) || !mayHold(word, host) || left.words <= 0) return false
    left.words--
    return formsOf(word).some((form) => keyOf(form) === key)
  })
}

/** A host can be written in other letters and with `%`; else it stands there as it is. */
function mayHold(text: string, host: string): boolean {
  return NOT_PLAIN.test(text) || text.toLowerCase().includes(host)
}

/** Returns a word from where the address in it begins, with the marks at its end and without them. */
function formsOf(word: string): readonly string[] {
  const scheme = word.search(/https?:\/\//i)
  const begun = scheme === -1 ? word.replace(BEFORE, '') : word.slice(scheme)
  const forms = [begun]
  for (let form = begun; AFTER.test(form) && forms.length <= MOST_MARKS; ) {
    form = form.slice(0, -1)
    forms.push(form)
  }
  return forms
}

function keyOf(form: string): string | [] {
  const address = BARE.test(form) ? `https://${form}` : form
  const url = /^https?:\/\//i.test(address) ? parseUrl(address) : undefined
  return url ? addressKey(url) : []
}
