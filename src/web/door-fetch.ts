import { ParleyError } from '../core/errors.ts'
import type { Door, DoorAnswer, DoorRequest } from './door.ts'

export interface DoorFetch {
  /** `get`: addresses are asked with GET too; else that is refused with 405, as a server without a stream does. */
  readonly get?: true
  /** Returns true for an address whose origin is an operator's own word; every one, if absent. */
  isConfigured?(this: void, url: URL): boolean
}

/**
 * Returns a `fetch` that goes through the door, for a library that takes one. An answer is read to its end before it is
 * returned. A redirect to another site, and an answer that is too long, are errors.
 */
export function doorFetch(door: Door, { get, isConfigured = () => true }: DoorFetch = {}): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const sent = sentBy(init)
    if (sent === undefined || (sent.method === undefined && !get)) return new Response(null, { status: 405 })
    const address = String(input instanceof Request ? input.url : input)
    const answer = await door.ask(address, {
      ...{ ...sent, headers: Object.fromEntries(new Headers(init.headers)) },
      ...(isConfigured(new URL(address)) ? { configured: true } : {}),
      signal: init.signal ?? new AbortController().signal,
    })
    return toResponse(answer)
  }
}

function toResponse(answer: DoorAnswer): Response {
  if (answer.kind === 'redirect') throw new ParleyError('forbidden', `The server redirects to ${answer.to.host}.`)
  if (answer.cut) throw new ParleyError('too_long', 'The answer of the server is too long.')
  const { status, bytes, headers } = answer
  const empty = status === 204 || status === 202 || status === 304
  return new Response(empty ? null : new Uint8Array(bytes), { status, headers: plainHeaders(headers) })
}

/** Returns what is sent by POST, nothing for GET, and undefined for a method that is not offered. */
function sentBy({ method = 'GET', body }: RequestInit): Pick<DoorRequest, 'method' | 'body'> | undefined {
  if (method === 'POST') return { method, body: textOf(body) }
  return method === 'GET' ? {} : undefined
}

function textOf(body: RequestInit['body']): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return String(body)
  throw new ParleyError('internal', 'only a text can be sent')
}

/** The body has been decoded. */
function plainHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'content-encoding': _encoding, 'content-length': _length, 'transfer-encoding': _transfer, ...rest } = headers
  return rest
}
