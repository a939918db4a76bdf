import { DOORS } from '../../core/doors.ts'
import { errorCode } from '../../core/errors.ts'
import { readJson } from '../../core/read-json.ts'
import { isRecord } from './tool-arguments.ts'

/** An error as a server says it, read from any of the shapes that servers have for it. */
export interface SaidError {
  /** The server's words, at most about 2,000 characters. Never empty. */
  readonly message: string
  /** The status that the body names, if it does: 400 to 599. */
  readonly status?: number
  readonly code?: string
  readonly type?: string
  /** The part of the request that is meant. */
  readonly param?: string
  /** The time after which the server may be asked again, in ms. */
  readonly retryAfterMs?: number
}

const MOST_WORDS = 2_000
/** Longer words are not read to their end. */
const MOST_READ = 50_000
/** Shapes within shapes: a gateway, its upstream, that one's text. */
const MOST_DEPTH = 6
/** Complaints about single fields; a server may send one for each message of a conversation. */
const MOST_COMPLAINTS = 5
const DAY_MS = 86_400_000

type Fields = Readonly<Record<string, unknown>>

/** Returns the error in the body of an answer, or undefined where it says none: a page, nothing, a stranger's JSON. */
export function readErrorBody(text: string, contentType: string): SaidError | undefined {
  const said = text.trim()
  if (said === '' || isPage(said, contentType)) return undefined
  const json = parsed(said)
  return json === undefined ? fromText(said, 0) : readErrorValue(json)
}

/** Returns true for a page for people. */
export function isPage(text: string, contentType: string): boolean {
  return /html/i.test(contentType) || /^\s*<(!doctype|html|head|body|\?xml)/i.test(text)
}

/** Returns the error that parsed JSON says, or undefined. */
export function readErrorValue(value: unknown, depth = 0): SaidError | undefined {
  if (depth > MOST_DEPTH) return undefined
  if (typeof value === 'string') return fromText(value, depth)
  if (Array.isArray(value)) return fromList(value, depth)
  return isRecord(value) ? fromFields(value, depth) : undefined
}

/** Returns true for an answer or a chunk that says an error and nothing else, in whatever shape. */
export function saysError(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(saysError)
  if (!isRecord(value) || saysMore(value)) return false
  const { error, errors, object, type, success, detail, error_message, base_resp } = value
  if ([error, errors, detail, error_message].some(isSomething)) return true
  if (isRecord(base_resp) && isSomething(base_resp.status_code)) return true
  if (success === false || type === 'error' || (typeof object === 'string' && /^error$/i.test(object))) return true
  return statusOf(value) !== undefined || (isSomething(value.code) && isSomething(value.message ?? value.msg))
}

/** OpenRouter puts an error beside a choice that says nothing. */
function saysMore({ error, choices, content }: Fields): boolean {
  const hasError = isRecord(error) && isSomething(error.message)
  return !hasError && (isSomething(choices) || isSomething(content))
}

function isSomething(value: unknown): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0)
}

/** The text of an error: often with JSON of the server behind in it, which says more. */
function fromText(text: string, depth: number): SaidError | undefined {
  const words = withoutFrame(text.slice(0, MOST_READ))
  if (words === '') return undefined
  const inner = depth < MOST_DEPTH ? within(words, depth) : undefined
  if (inner !== undefined) return inner
  const message = cut(words)
  const retryAfterMs = waitIn(message)
  return { message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Returns words without the frame that a gateway puts around them, and without a request that they repeat. */
function withoutFrame(text: string): string {
  return text
    .replace(
      /(?:\n\s{0,8}model=|\.? ?context_window_fallbacks=|\n\nSet 'context_window_fallback'|\nReceived Model Group=)[\s\S]*$/,
      '',
    )
    .replace(/^(?:litellm\.\w+: )+(?:\w+Error: )*/, '')
    .replace(/,? ?["']input["']: [\s\S]*$/, '')
    .trim()
}

/** Returns the error in JSON with which a text ends, behind the words in front of it. */
function within(text: string, depth: number): SaidError | undefined {
  const begin = text.search(/[[{]/)
  if (begin < 0 || !/"(?:message|error|detail|msg)"\s*:/.test(text)) return undefined
  let end = text.length
  while (/['"\s.]/.test(text.charAt(end - 1))) end--
  const piece = text.slice(begin, end)
  // Python writes bytes with their escapes.
  const json = parsed(piece) ?? parsed(piece.replaceAll('\\n', '\n').replaceAll("\\'", "'"))
  const inner = json === undefined ? undefined : readErrorValue(json, depth + 1)
  const before = text.slice(0, begin).replace(/\bb?['"]?$/, '')
  return inner && { ...inner, message: cut(before + inner.message) }
}

/** A list of one error (Gemini), or of complaints about fields. */
function fromList(list: readonly unknown[], depth: number): SaidError | undefined {
  const read = list.slice(0, MOST_COMPLAINTS).flatMap((one) => readErrorValue(one, depth + 1) ?? [])
  const [first] = read
  if (first === undefined) return undefined
  return { ...first, message: cut([...new Set(read.map(({ message }) => message))].join('; ')) }
}

/** The fields that hold the words, in the order of preference. */
const WORDS = [
  ...['message', 'msg', 'detail', 'error', 'error_message', 'errorMessage', 'error_description', 'Message'],
  ...['status_msg', 'faultstring', 'title', 'reason'],
]
/** The fields that hold another error, which has the words. */
const DEEPER = ['error', 'errors', 'message', 'detail', 'base_resp', 'fault', 'response']

function fromFields(fields: Fields, depth: number): SaidError | undefined {
  const own = ownWords(fields, depth)
  const inner = deeper(fields, depth)
  const message = joined(own?.message, inner?.message) ?? oddWords(fields)
  if (message === undefined) return undefined
  const named = codeOf(fields)
  // A status says less than the name that the server behind has for the matter.
  const code = /^[45]\d\d$/.test(named ?? '') ? (own?.code ?? named) : (named ?? own?.code)
  const type = typeOf(fields) ?? own?.type
  const param = textOf(fields.param) ?? own?.param
  const status = statusOf(fields) ?? inner?.status ?? own?.status
  const retryAfterMs = inner?.retryAfterMs ?? waitOf(fields) ?? own?.retryAfterMs
  return {
    message: cut(message + numbersOf(fields)),
    ...defined({ status, code: inner?.code ?? code, type: inner?.type ?? type, param: inner?.param ?? param }),
    ...defined({ retryAfterMs }),
  }
}

/** Returns the words of an object itself; FastAPI says with them which part of the request they are about. */
function ownWords(fields: Fields, depth: number): SaidError | undefined {
  const key = WORDS.find((name) => typeof fields[name] === 'string' && fields[name].trim() !== '')
  const words = key === undefined ? undefined : fromText(String(fields[key]), depth + 1)
  if (words === undefined) return undefined
  const { loc, title, detail } = fields
  const at = Array.isArray(loc) ? loc.join('.') : textOf(loc)
  if (at !== undefined) return { ...words, message: `${at}: ${words.message}` }
  const isProblem = typeof title === 'string' && typeof detail === 'string' && key === 'detail'
  return isProblem ? { ...words, message: joined(title, words.message) ?? title } : words
}

function deeper(fields: Fields, depth: number): SaidError | undefined {
  const { metadata } = fields
  // OpenRouter keeps the words of the server behind it there.
  const raw = isRecord(metadata) && metadata.raw ? readErrorValue(metadata.raw, depth + 1) : undefined
  if (raw !== undefined) return raw
  for (const name of DEEPER) {
    const value = fields[name]
    const found = typeof value === 'object' && value !== null ? readErrorValue(value, depth + 1) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Ollama once wrote the words in the place of a field's name. */
function oddWords(fields: Fields): string | undefined {
  const [name, value] = Object.entries(fields)[0] ?? []
  return name !== undefined && /^error \w/i.test(name) && typeof value === 'string' ? `${name}: ${value}` : undefined
}

function joined(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner
  if (outer.includes(inner)) return outer
  return inner.includes(outer) ? inner : `${outer}: ${inner}`
}

/** llama.cpp names its window in a field. */
function numbersOf({ n_ctx, n_prompt_tokens }: Fields): string {
  if (typeof n_ctx !== 'number') return ''
  return typeof n_prompt_tokens === 'number'
    ? ` (n_prompt_tokens: ${n_prompt_tokens}, n_ctx: ${n_ctx})`
    : ` (n_ctx: ${n_ctx})`
}

function codeOf({ code, details, status_code, base_resp }: Fields): string | undefined {
  if (isRecord(details) && typeof details.error_code === 'string') return details.error_code
  const known = code ?? (base_resp === undefined ? undefined : status_code)
  return textOf(typeof known === 'number' ? String(known) : known)
}

function typeOf({ type, status, error_type, __type }: Fields): string | undefined {
  const named = [type, error_type, __type, status].find((name) => textOf(name) !== undefined && name !== 'error')
  return textOf(named)
}

function statusOf({ status_code, statusCode, status, code, raw_status_code }: Fields): number | undefined {
  return [status_code, statusCode, raw_status_code, status, code]
    .map((value) => (typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN))
    .find((value) => Number.isInteger(value) && value >= 400 && value < 600)
}

function waitOf(fields: Fields): number | undefined {
  const { retry_after_ms, retry_after, retryAfter, retry_after_seconds, retryDelay, details, metadata } = fields
  const ms = Number(retry_after_ms ?? Number.NaN)
  if (Number.isFinite(ms)) return bounded(ms)
  const seconds = [retry_after, retryAfter, retry_after_seconds, retryDelay].find((value) => isSomething(value))
  if (seconds !== undefined) return bounded(Number.parseFloat(String(seconds)) * 1_000)
  const inside = [...(Array.isArray(details) ? details.slice(0, 20) : []), metadata].filter(isRecord)
  return inside.map(waitOf).find((wait) => wait !== undefined)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Returns the wait that words name: `Please try again in 7m12s`, `retry in 34.07s`, `Try again in 60 seconds`. */
function waitIn(words: string): number | undefined {
  const [, named] = /(?:try again|retry)(?: after| in) ((?:\d+(?:\.\d+)?\s?(?:ms|s|m|h)[a-z]*\s?)+)/i.exec(words) ?? []
  if (named === undefined) return undefined
  const parts = [...named.matchAll(/(\d+(?:\.\d+)?)\s?(ms|s|m|h)/gi)]
  return bounded(
    parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 0), 0),
  )
}

function bounded(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), DAY_MS) : undefined
}

function cut(words: string): string {
  return words.length <= MOST_WORDS ? words : `${words.slice(0, MOST_WORDS)}…`
}

function parsed(text: string): unknown {
  if (!/^[[{"]/.test(text)) return undefined
  try {
    return readJson(text, DOORS.modelAnswer)
  } catch (error) {
    // JSON beyond the bounds is JSON that says nothing, and no text.
    return errorCode(error) === 'too_long' ? null : undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined
}

function defined<Values extends object>(values: Values): { [Key in keyof Values]?: NonNullable<Values[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
