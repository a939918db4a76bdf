const SEPARATORS = /[\s<>"`|\\^{}]+/
/** A word that people write for an address, without a scheme. */
const BARE = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?\.\p{L}{2,}(?::\d{1,5})?(?:[/?#].*)?$/u
const BEFORE = /^[([«„“‘'*_~]+/
/** Characters that end a sentence or a bracket; most of them may be part of an address as well. */
const AFTER = /[.,;:!?)\]»“”’'…*_~]$/
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
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? addressKey(new URL(address)) : []
}
