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

/**
 * Returns a stream that replaces every secret in the UTF-8 text that passes, as `createTextRedactor` does in a whole
 * one. It holds back only the end of a piece that the next piece may make a secret: whoever waits for the end of an
 * event, in a stream that stays open, gets it at once.
 */
export function createRedactingStream(secrets: readonly string[]): TransformStream<Uint8Array, Uint8Array> {
  const forms = formsFrom(secrets, SHORTEST_ENCODED)
  const pattern = patternFrom(forms)
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
  let held = ''
  return new TransformStream({
    transform(bytes, out) {
      const text = held + decoder.decode(bytes, { stream: true })
      const passed = pattern === undefined ? { clean: text, held: '' } : redactBeginning(text, pattern, forms)
      held = passed.held
      if (passed.clean !== '') out.enqueue(encoder.encode(passed.clean))
    },
    flush(out) {
      const text = held + decoder.decode()
      const clean = pattern === undefined ? text : text.replace(pattern, '[secret]')
      if (clean !== '') out.enqueue(encoder.encode(clean))
    },
  })
}

/** Redacts a text up to the first character that may belong to a secret, or to a longer one, whose end is not there. */
function redactBeginning(text: string, pattern: RegExp, forms: readonly string[]): { clean: string; held: string } {
  const longest = forms[0]?.length ?? 0
  let open = Math.max(0, text.length - longest + 1)
  const isOpen = (at: number): boolean => {
    const end = text.slice(at)
    return forms.some((form) => form.length > end.length && form.startsWith(end))
  }
  let clean = ''
  let from = 0
  for (const { index, 0: found } of text.matchAll(pattern)) {
    while (open < index && !isOpen(open)) open++
    if (open < index || (open === index && isOpen(open))) break
    clean += `${text.slice(from, index)}[secret]`
    from = index + found.length
    open = Math.max(open, from)
  }
  while (open < text.length && !isOpen(open)) open++
  return { clean: clean + text.slice(from, open), held: text.slice(open) }
}

/** Returns all forms of the secrets of at least `shortest` characters, the longest first. */
function formsFrom(secrets: readonly string[], shortest: number): readonly string[] {
  const forms = new Set(secrets.filter((secret) => secret.length >= shortest).flatMap(formsOf))
  return [...forms].sort((left, right) => right.length - left.length)
}

function patternOf(secrets: readonly string[], shortest: number): RegExp | undefined {
  return patternFrom(formsFrom(secrets, shortest))
}

/** Returns undefined where there are no forms. */
function patternFrom(longestFirst: readonly string[]): RegExp | undefined {
  return longestFirst.length === 0 ? undefined : new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
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
