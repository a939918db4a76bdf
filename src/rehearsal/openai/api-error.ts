import type { Refused } from './refused.ts'

interface Details {
  readonly type?: string
  readonly param?: string | null
  readonly code?: string | null
}

/** A refusal of the Chat Completions API in its own shape. */
export class ChatError extends Error {
  override name = 'ChatError'
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly code: string | null

  constructor(
    status: number,
    message: string,
    { type = 'invalid_request_error', param = null, code = null }: Details = {},
  ) {
    super(message)
    this.status = status
    this.type = type
    this.param = param
    this.code = code
  }

  /** Returns what it says, for the shape of another server. */
  asRefused(): Refused {
    const { status, message, type, param, code } = this
    return { status, message, param, code, ...(type === 'invalid_request_error' ? {} : { type }) }
  }
}

/** Returns the refusal of a request that is not valid; `param` is the place of the mistake. */
export function invalid(message: string, param: string | null = null, code: string | null = null): ChatError {
  return new ChatError(400, message, { param, code })
}

export function missing(path: string): ChatError {
  return invalid(`Missing required parameter: '${path}'.`, path, 'missing_required_parameter')
}

export function wrongType(path: string, expected: string, got: unknown): ChatError {
  return invalid(
    `Invalid type for '${path}': expected ${expected}, but got ${kindOf(got)} instead.`,
    path,
    'invalid_type',
  )
}

export function wrongValue(path: string, value: unknown, supported: readonly string[]): ChatError {
  return invalid(`Invalid value: '${value}'. Supported values are: ${listed(supported)}.`, path, 'invalid_value')
}

export function emptyArray(path: string): ChatError {
  return invalid(
    `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    path,
    'empty_array',
  )
}

/** Checks the length of a text that the API limits. */
export function checkLength(path: string, text: string, most: number): void {
  if (text.length <= most) return
  throw invalid(
    `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`,
    path,
    'string_above_max_length',
  )
}

export interface ErrorFields {
  readonly message: string
  readonly type: string
  readonly param?: string | null
  readonly code?: string | null
}

/** Returns `'a', 'b', and 'c'`. */
export function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
