/** What stands in the place of a secret, wherever one would have been printed. */
export const MASK = '[secret]'

/** Values shorter than this are not hidden: they would blank ordinary words, and protect nothing. */
const SHORTEST = 4

/**
 * Hides secrets by value (DESIGN decision 14): the returned function replaces every occurrence of each value, also as
 * it looks inside a JSON text, inside JSON inside JSON, and inside a URL.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret.length >= SHORTEST).flatMap(formsOf))]
  if (forms.length === 0) return (text) => text
  // The longest first: one secret may begin like another.
  const alternatives = forms.sort((a, b) => b.length - a.length).map(literally)
  const pattern = new RegExp(alternatives.join('|'), 'g')
  return (text) => text.replace(pattern, MASK)
}

function formsOf(secret: string): readonly string[] {
  const quoted = inJson(secret)
  // Half an emoji has no place in a URL; encodeURI would throw.
  const whole = secret.replace(/[\uD800-\uDFFF]/gu, '')
  return [secret, quoted, inJson(quoted), encodeURIComponent(whole), encodeURI(whole)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
