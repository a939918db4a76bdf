import { ParleyError } from '../core/errors.ts'
import type { Door } from './door.ts'

/**
 * Returns a `fetch` that goes through the door, for a library that takes one and is given nothing but addresses of the
 * configuration. An answer is read to its end before it is returned. A stream that a server would keep open, and the
 * end of a session, are refused with 405, as a server that has neither does.
 */
export function doorFetch(door: Door): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body, headers, signal } = init
    if (method !== 'POST') return new Response(null, { status: 405 })
    if (typeof body !== 'string') throw new ParleyError('internal', 'only a text can be sent')
    const answer = await door.ask(String(input instanceof Request ? input.url : input), {
      ...{ method, body, configured: true, headers: Object.fromEntries(new Headers(headers)) },
      signal: signal ?? new AbortController().signal,
    })
    if (answer.kind === 'redirect') throw new ParleyError('forbidden', `The server redirects to ${answer.to.host}.`)
    if (answer.cut) throw new ParleyError('too_long', 'The answer of the server is too long.')
    const empty = answer.status === 204 || answer.status === 202 || answer.status === 304
    return new Response(empty ? null : new Uint8Array(answer.bytes), {
      status: answer.status,
      headers: plainHeaders(answer.headers),
    })
  }
}

/** The body has been decoded. */
function plainHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'content-encoding': _encoding, 'content-length': _length, 'transfer-encoding': _transfer, ...rest } = headers
  return rest
}
