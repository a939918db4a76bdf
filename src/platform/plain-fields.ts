import { cutText } from '../core/cut-text.ts'
import type { LogFields } from '../core/logger.ts'
import { whyUnanswered } from '../core/wire-error.ts'

/** Keys of the line itself, which fields must not use. */
const RESERVED = new Set(['time', 'level', 'msg'])
/** The nesting below which a value is only named, so that no line grows without end. */
const DEEPEST = 6
/** Characters of a text, of the message of an error, and of its stack: a server may have answered with megabytes. */
const LONGEST = 2_000
const LONGEST_MESSAGE = 500
const LONGEST_STACK = 1_500

/**
 * Returns fields in a form that JSON can hold: errors with their causes at any depth; nothing in it can throw later.
 */
export function plainFields(fields: LogFields): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) plain[RESERVED.has(key) ? `${key}_` : key] = toPlain(value, 0)
  return plain
}

function toPlain(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, LONGEST)
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? '[function]' : value
  if (depth > DEEPEST) return '[more]'
  if (value instanceof Error) return plainError(value, depth)
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => toPlain(item, depth + 1))
  return plainObject(value, depth)
}

function plainObject(value: object, depth: number): unknown {
  try {
    const known = value as { toJSON?: unknown }
    if (typeof known.toJSON === 'function') return toPlain(known.toJSON(), depth + 1)
    const entries = value instanceof Map ? [...value] : Object.entries(value)
    return Object.fromEntries(entries.map(([key, inner]) => [String(key), toPlain(inner, depth + 1)]))
  } catch {
    return '[unreadable]'
  }
}

/**
 * Returns name, code, message, stack, aggregated errors and cause. Other own properties, such as a request, stay out.
 */
function plainError(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown }
  // Node gives no words to the error of a connection for which several addresses were tried.
  const message = cut(
    error.message === '' && error instanceof AggregateError ? whyUnanswered(error) : error.message,
    LONGEST_MESSAGE,
  )
  return {
    name: error.name,
    ...(code === undefined ? {} : { code: toPlain(code, depth + 1) }),
    message,
    // The stack begins with the whole message.
    stack:
      error.stack &&
      cut(error.message === '' ? error.stack : error.stack.replace(error.message, () => message), LONGEST_STACK),
    ...(error instanceof AggregateError ? { errors: toPlain(error.errors, depth + 1) } : {}),
    ...(error.cause === undefined ? {} : { cause: toPlain(error.cause, depth + 1) }),
  }
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${cutText(text, longest)}…` : text
}
