/** Larger whole numbers are not exact as numbers: ids of some platforms are. */
const EXACT_DIGITS = 15
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '0': '\0' },
  // A text may continue in the next line.
  '\n': '',
}

/**
 * Returns the text of a JSON5 file as JSON, in a time in proportion to its length: without comments and trailing
 * commas, with every name and text in double quotes, and with large whole numbers as texts. What is not JSON5 either
 * stays, so that whoever parses the result refuses it.
 */
export function json5ToJson(text: string): string {
  const tokens = [...tokensOf(text.replace(/^\uFEFF/, ''))]
  return tokens
    .map((token, at) => {
      const next = tokens[at + 1] ?? ''
      if (token === ',' && /^[}\]]$/.test(next)) return ''
      if (token.startsWith('"') || token.startsWith("'")) return quoted(token)
      if (/^[{}[\],:]$/.test(token)) return token
      return next === ':' ? JSON.stringify(token) : bareValue(token)
    })
    .join('')
}

const SPACE = /[\s\uFEFF]+/y
const TEXT = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^'\\]*(?:\\[\s\S][^'\\]*)*'/y
const WORD = /[^\s{}[\],:"'/]+|[\s\S]/y

/** Yields texts, marks and words without comments. A text or comment that is not closed ends them, as it is. */
function* tokensOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const first = text.charAt(at)
    const pattern = /\s|\uFEFF/.test(first) ? SPACE : first === '"' || first === "'" ? TEXT : WORD
    const end = first === '/' ? endOfComment(text, at) : endOf(pattern, text, at)
    if (end === undefined || (first !== '/' && pattern !== SPACE)) yield text.slice(at, end)
    if (end === undefined) return
    at = end
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function endOfComment(text: string, at: number): number | undefined {
  const second = text.charAt(at + 1)
  if (second !== '/' && second !== '*') return undefined
  const end = text.indexOf(second === '/' ? '\n' : '*/', at + 2)
  if (end === -1) return second === '/' ? text.length : undefined
  return end + (second === '/' ? 1 : 2)
}

function quoted(token: string): string {
  if (token.length < 2) return token
  const inner = token
    .slice(1, -1)
    .replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(\r\n|[\s\S]))/gi, (_whole, byte, unit, other: string | undefined) => {
      const code = byte ?? unit
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      return other === '\r\n' ? '' : (ESCAPES[other ?? ''] ?? other ?? '')
    })
  return JSON.stringify(inner)
}

function bareValue(token: string): string {
  if (/^[+-]?\d+$/.test(token) && token.replace(/^[+-]/, '').length > EXACT_DIGITS) return JSON.stringify(token)
  if (/^[+-]?(?:0x[0-9a-f]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)$/i.test(token)) {
    const value = Number(token.replace(/^\+/, '').replace(/^-(?=0x)/i, ''))
    return Number.isFinite(value) ? String(/^-0x/i.test(token) ? -value : value) : token
  }
  return /^[+-]?(?:Infinity|NaN)$/.test(token) ? 'null' : token
}

/** Returns the variables of a `.env` file, each with its last value; lines that set none are left out. */
export function readDotenv(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, name, raw = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/.exec(raw) ?? []
    const value =
      double?.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1') ?? single ?? raw.replace(/(?:^|\s)#.*$/, '').trim()
    found.set(name, value)
  }
  return found
}
