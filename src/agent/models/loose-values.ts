import { parseArguments } from './tool-arguments.ts'

/** A value that was read, and the offset behind it. */
export interface LooseValue {
  readonly value: unknown
  readonly end: number
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads an object or a list at the start of a text, also as models write them: with line ends in strings, in the
 * spelling of Python, with the string marks of Gemma. Undefined for anything else. `alone`: nothing may follow it.
 */
export function readJson(text: string, alone = false): LooseValue | undefined {
  const start = text.length - text.trimStart().length
  const end = endOfValue(text, start)
  if (end === undefined || (alone && text.slice(end).trim() !== '')) return undefined
  const written = text.slice(start, end)
  for (const spell of [(json: string) => json, withoutLineEnds, fromGemma, fromPython]) {
    const value = parseArguments(spell(written))
    if (typeof value === 'object' && value !== null) return { value, end }
  }
  return undefined
}

/** Returns the offset behind the bracket that closes the one at an offset. */
function endOfValue(text: string, start: number): number | undefined {
  if (!/[[{]/.test(text.charAt(start))) return undefined
  return balanced(text, start, STRINGS) ?? balanced(text, start, PYTHON_STRINGS)
}

const STRINGS = /<\|"\|>[\s\S]*?<\|"\|>|<escape>[\s\S]*?<escape>|"(?:[^"\\]|\\[\s\S])*"|[[\]{}]/g
const PYTHON_STRINGS = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[[\]{}]/g

function balanced(text: string, start: number, marks: RegExp): number | undefined {
  let depth = 0
  marks.lastIndex = start
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark] = found
    if (mark === '[' || mark === '{') depth++
    if (mark === ']' || mark === '}') depth--
    if (depth === 0) return found.index + mark.length
  }
  return undefined
}

function withoutLineEnds(json: string): string {
  const escaped: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  return json.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (string) => string.replace(/[\n\r\t]/g, (end) => escaped[end] ?? end))
}

/** `{k:<|"|>v<|"|>}` and `{k:<escape>v<escape>}`. */
function fromGemma(text: string): string {
  return text
    .split(/(<\|"\|>[\s\S]*?<\|"\|>|<escape>[\s\S]*?<escape>)/)
    .map((part, index) =>
      index % 2 === 1
        ? JSON.stringify(part.replace(/^<(?:\|"\||escape)>|<(?:\|"\||escape)>$/g, ''))
        : part.replace(/([{,]\s*)([A-Za-z_][\w.-]*)\s*:/g, '$1"$2":'),
    )
    .join('')
}

function fromPython(text: string): string {
  return text
    .split(/("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')/)
    .map((part, index) => (index % 2 === 1 ? pythonString(part) : pythonWords(part)))
    .join('')
}

function pythonWords(text: string): string {
  return text
    .replace(/\bTrue\b/g, 'true')
    .replace(/\bFalse\b/g, 'false')
    .replace(/\bNone\b/g, 'null')
    .replace(/,(\s*[}\]])/g, '$1')
}

/** Returns a string of Python as one of JSON. */
function pythonString(written: string): string {
  const inside = written.slice(1, -1).replace(/\\'/g, "'")
  return withoutLineEnds(`"${written.startsWith('"') ? inside : inside.replace(/(?<!\\)"/g, '\\"')}"`)
}

interface PythonCall {
  readonly name: string
  readonly args: Record<string, unknown>
}

const CALLED = /[\s,;[]*([A-Za-z_][\w.]*)\s*\(/y
const ARGUMENT = /[\s,]*([A-Za-z_]\w*)\s*=\s*/y
const SIMPLE = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|-?\d+(?:\.\d+)?|True|False|None|true|false|null/y

/** Reads `[name(key="value"), other()]`, with or without the brackets; undefined where anything else stands. */
export function readPythonCalls(text: string): readonly PythonCall[] | undefined {
  const calls: PythonCall[] = []
  let at = 0
  while (/\w/.test(text.slice(at))) {
    const [head, name = ''] = matchAt(CALLED, text, at) ?? []
    const read = head === undefined ? undefined : readKeywords(text, at + head.length)
    if (read === undefined) return undefined
    calls.push({ name, args: read.args })
    at = read.end
  }
  return calls.length > 0 && /^[\s\],;]*$/.test(text.slice(at)) ? calls : undefined
}

function readKeywords(
  text: string,
  start: number,
): { readonly args: PythonCall['args']; readonly end: number } | undefined {
  const args: Record<string, unknown> = {}
  for (let at = start; ; ) {
    const [close] = matchAt(/[\s,]*\)/y, text, at) ?? []
    if (close !== undefined) return { args, end: at + close.length }
    const [head, key = ''] = matchAt(ARGUMENT, text, at) ?? []
    if (head === undefined) return undefined
    at += head.length
    const [simple] = matchAt(SIMPLE, text, at) ?? []
    const read = simple === undefined ? readJson(text.slice(at)) : readSimple(simple)
    if (read === undefined) return undefined
    args[key] = read.value
    at += read.end
  }
}

function readSimple(written: string): LooseValue | undefined {
  const read = readJsonList(`[${fromPython(written)}]`)
  return read === undefined ? undefined : { value: read[0], end: written.length }
}

function readJsonList(json: string): readonly unknown[] | undefined {
  const list = parseArguments(json)
  return Array.isArray(list) ? list : undefined
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
