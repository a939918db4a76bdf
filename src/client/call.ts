import { type ErrorCode, ParleyError } from '../core/errors.ts'
import { whyUnanswered } from '../core/wire-error.ts'

/** The part of `fetch` that is used here. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
}

interface FetchAnswer {
  readonly status: number
  text(): Promise<string>
}

/** A request of the API. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Each name in it is encoded (`at`). */
  readonly path: string
  /** Those that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: object
  /** The answer is a file, and its text is returned as it stands. */
  readonly file?: true
  /** Its answer may take so much longer than others. */
  readonly waitMs?: number
}

/** Calls an operation by its name in the document, and resolves with its answer. */
export type CallOperation = <Answer>(operation: string, call: ApiCall) => Promise<Answer>

export interface Endpoint {
  /** `http://127.0.0.1:7275`. */
  readonly baseUrl: string
  /** Made by `parley token create`. */
  readonly token?: string | undefined
  /** Sent with each request that has an effect (`ClientOptions`). */
  readonly idempotencyKey?: string | undefined
  readonly fetch: Fetch
  readonly timeoutMs: number
}

/** The failure of a call, with the code of the daemon; its message is for people. */
export class ApiError extends ParleyError {
  /** The HTTP status; 0 where no answer came. */
  readonly status: number

  constructor(code: ErrorCode, status: number, message: string, options?: { cause?: unknown }) {
    super(code, message, options)
    this.status = status
  }
}

/** Returns what calls the daemon there. It rejects with an `ApiError`. */
export function createCall(endpoint: Endpoint): CallOperation {
  return async <Answer>(_operation: string, call: ApiCall) => {
    const { status, value } = await send(endpoint, call).catch((error) => Promise.reject(unreachable(endpoint, error)))
    if (status >= 200 && status < 300 && value !== undefined) return value as Answer
    const { code = 'unavailable', message = `What answers on ${endpoint.baseUrl} is no Parley daemon.` } =
      errorOf(value) ?? {}
    throw new ApiError(code, status, message)
  }
}

/** Sends a request and resolves with the answer, whatever its status; `value` is undefined for one that is no JSON. */
export async function send(
  { baseUrl, token, idempotencyKey, fetch, timeoutMs }: Endpoint,
  { method, path, query = {}, body, file, waitMs = 0 }: ApiCall,
): Promise<{ readonly status: number; readonly value: unknown }> {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const answer = await fetch(urlOf(baseUrl, `${path}${search}`), {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined || method === 'GET' ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs + waitMs),
  })
  const said = await answer.text()
  return { status: answer.status, value: file && answer.status === 200 ? said : parsed(said) }
}

/** Returns the address of a path of the API; it may lie below that of a proxy. */
export function urlOf(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}

/** Returns the error in an answer; undefined for an answer that has none. */
export function errorOf(value: unknown): { readonly code?: ErrorCode; readonly message: string } | undefined {
  const { error } = (value ?? {}) as { readonly error?: { readonly code?: ErrorCode; readonly message?: unknown } }
  if (typeof error?.message !== 'string') return undefined
  return { message: error.message, ...(typeof error.code === 'string' ? { code: error.code } : {}) }
}

/**
 * Returns a path with its names encoded. Throws `not_found` for an empty name, which the path would lack, and for `.`
 * and `..`, which mean a folder there, encoded or not.
 */
export function at(texts: TemplateStringsArray, ...names: readonly string[]): string {
  return texts.map((text, index) => `${text}${index < names.length ? encoded(names[index] ?? '') : ''}`).join('')
}

function encoded(name: string): string {
  if (name === '') throw new ApiError('not_found', 0, 'Nothing has an empty name.')
  if (name === '.' || name === '..') throw new ApiError('not_found', 0, `There is no "${name}".`)
  return encodeURIComponent(name)
}

/** Returns a text as JSON; undefined where it is none. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function unreachable({ baseUrl, timeoutMs }: Endpoint, cause: unknown): ApiError {
  const late = cause instanceof Error && cause.name === 'TimeoutError'
  const why = late ? `within ${timeoutMs / 1000} s` : `(${whyUnanswered(cause)})`
  return new ApiError('unavailable', 0, `No answer came from ${baseUrl} ${why}.`, { cause })
}
