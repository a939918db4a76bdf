interface LoggedError {
  readonly name?: string
  readonly message: string
  readonly stack?: string
  readonly cause?: unknown
}

interface Line {
  readonly time: string
  readonly level: string
  readonly msg?: string
  readonly subsystem?: string
}

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 }

/**
 * Returns a line of JSON for people: `10:12:03 warn telegram The poll failed attempt=3 err="fetch failed"` and, below
 * it and indented, the stack of an error and of its causes. Colours are for terminals only.
 */
export function prettyLine(json: string, coloured: boolean): string {
  const { time, level, msg = '', subsystem = '', ...fields }: Line & Record<string, unknown> = JSON.parse(json)
  const padded = level.padEnd(5)
  const name = coloured ? `\u001b[${COLOURS[level] ?? 0}m${padded}\u001b[0m` : padded
  const words = Object.entries(fields).map(([key, value]) => ` ${escapeControls(key)}=${word(value)}`)
  const head = `${time.slice(11, 19)} ${name} ${escapeControls(subsystem).padEnd(9)} ${escapeControls(msg)}${words.join('')}`
  const stacks = Object.values(fields).filter(isError).flatMap(stackLines)
  return `${[head, ...stacks.map((line) => `    ${escapeControls(line)}`)].join('\n')}\n`
}

/** Returns a value bare if it reads well, else in quotes; an error is its message, since its stack stands below. */
function word(value: unknown): string {
  const shown = isError(value) ? value.message : value
  const text = typeof shown === 'string' && /^[\w:./@+-]+$/.test(shown) ? shown : JSON.stringify(shown)
  return escapeControls(text ?? 'undefined')
}

function stackLines({ name = 'Error', message, stack = `${name}: ${message}`, cause }: LoggedError): string[] {
  const own = stack.split('\n').map((line) => line.trimStart())
  const [first = '', ...frames] = own
  const lines = [first, ...frames.map((line) => `  ${line}`)]
  if (!isError(cause)) return lines
  const [below = '', ...more] = stackLines(cause)
  return [...lines, `caused by ${below}`, ...more]
}

function isError(value: unknown): value is LoggedError {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value
}

/** C0 and C1 controls, line separators, and the marks that reorder the following text on a screen. */
const UNSAFE = /[\p{Cc}\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes, as `\u001b`, every character that would move the cursor, break the line or reorder it on a terminal. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
