/** Shorter values are part of many words; redacting them would make the log unreadable and hide nothing. */
const SHORTEST = 4
/** From this length on the base64 form of a value is not part of other words by chance. */
const SHORTEST_ENCODED = 8

/**
 * Returns a function that replaces every secret by `[secret]` in a finished line of JSON, wherever it came from: plain,
 * escaped as in JSON (also JSON within JSON), URL-encoded, and in base64 at any offset, as in an Authorization header.
 * A line that would no longer be JSON is withheld except for its time and level. A logger's own redaction names fields,
 * and a secret may stand in any text (decision 0017).
 */
export function createRedactor(secrets: readonly string[]): (line: string) => string {
  const pattern = patternOf(secrets, SHORTEST)
  if (pattern === undefined) return (line) => line
  return (line) => {
    const clean = line.replace(pattern, '[secret]')
    return clean === line || isJson(clean) ? clean : withheld(line)
  }
}

/**
 * Returns a function that replaces every secret in a text that people or tools have written, in the same forms. Values
 * of less than eight characters may be words, and stay.
 */
export function createTextRedactor(secrets: readonly string[]): (text: string) => string {
  const pattern = patternOf(secrets, SHORTEST_ENCODED)
  return pattern === undefined ? (text) => text : (text) => text.replace(pattern, '[secret]')
}

/** Returns the pattern of all forms of the secrets of at least `shortest` characters; undefined if there are none. */
function patternOf(secrets: readonly string[], shortest: number): RegExp | undefined {
  const forms = new Set(secrets.filter((secret) => secret.length >= shortest).flatMap(formsOf))
  if (forms.size === 0) return undefined
  const longestFirst = [...forms].sort((left, right) => right.length - left.length)
  return new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function withheld(line: string): string {
  const { level, time }: { level?: unknown; time?: unknown } = JSON.parse(line)
  return JSON.stringify({ level, time, msg: 'A line was withheld: a secret stood in it as a number' })
}

function formsOf(secret: string): string[] {
  const escaped = escapeJson(secret)
  // Half an emoji has no place in a URL; encoding it would throw.
  const whole = secret.replace(/[\uD800-\uDFFF]/gu, '')
  const url = encodeURIComponent(whole)
  const lowerUrl = url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  const plain = [secret, escaped, escapeJson(escaped), url, lowerUrl, encodeURI(whole), url.replaceAll('%20', '+')]
  return secret.length < SHORTEST_ENCODED ? plain : [...plain, ...base64Forms(secret)]
}

/**
 * Returns the characters of base64 that the secret alone decides, for each of the three offsets at which it can begin.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
