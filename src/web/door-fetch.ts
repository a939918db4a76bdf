import { Readable } from 'node:stream'
import { ParleyError } from '../core/errors.ts'
import type { DoorRequest, StreamingDoor } from './door.ts'

type Ask = StreamingDoor['open']

/** Redirects of one request within its host: from a path to the one with a slash, or to TLS. */
const MOST_REDIRECTS = 3

/**
 * Returns a `fetch` that asks through the door, for a library that takes one: an answer that is no stream is read to
 * its end before it is returned. A request is made again where its host redirects it. A redirect to another host, and
 * an answer that is too long, are errors. `isConfigured` returns true for an address whose origin is an operator's own
 * word; default: every one is.
 */
export function doorFetch(ask: Ask, isConfigured: (url: URL) => boolean = () => true): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const sent = sentBy(init)
    if (sent === undefined) return new Response(null, { status: 405 })
    const signal = init.signal ?? new AbortController().signal
    const headers = Object.fromEntries(new Headers(init.headers))
    const visit = (url: URL): ReturnType<Ask> =>
      ask(url.href, {
        ...{ ...sent, headers, signal },
        follow: false,
        ...(isConfigured(url) ? { configured: true } : {}),
      })
    let answer = await visit(new URL(String(input instanceof Request ? input.url : input)))
    for (let redirects = 0; answer.kind === 'redirect' && redirects < MOST_REDIRECTS; redirects++) {
      // Behind 303 what was sent has been done already.
      if (!isWithinHost(answer.url, answer.to) || answer.status === 303) break
      answer = await visit(answer.to)
    }
    return toResponse(answer)
  }
}

function redirected({
  url,
  to,
  status,
}: {
  readonly url: URL
  readonly to: URL
  readonly status: number
}): ParleyError {
  const there = `${to.origin}${to.pathname}`
  if (!isWithinHost(url, to))
    return refused(
      `redirects to ${there}, which is not followed. If that is its address, write it in the configuration.`,
    )
  return status === 303
    ? refused(`has done what it was asked and says that its answer is at ${there}, where nobody looks.`)
    : refused(`redirects again and again, to ${there} in the end: it may want a login.`)
}

function refused(words: string): ParleyError {
  return new ParleyError('forbidden', `The server ${words}`)
}

/** Returns true for the same origin, and for the same host by TLS: what is secret may go there too. */
function isWithinHost(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  return from.origin === to.origin || (from.hostname === to.hostname && isUpgrade)
}

function toResponse(answer: Awaited<ReturnType<Ask>>): Response {
  if (answer.kind === 'stream') {
    const { status, headers, body } = answer
    return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers: plainHeaders(headers) })
  }
  if (answer.kind === 'redirect') throw redirected(answer)
  if (answer.cut) throw new ParleyError('too_long', 'The answer of the server is too long.')
  const { status, bytes, headers } = answer
  const empty = [202, 204, 205, 304].includes(status)
  return new Response(empty ? null : new Uint8Array(bytes), { status, headers: plainHeaders(headers) })
}

/** Returns the method with what is sent by POST, and undefined for a method that is not offered. */
function sentBy({ method = 'GET', body }: RequestInit): Pick<DoorRequest, 'method' | 'body'> | undefined {
  if (method === 'POST') return { method, body: textOf(body) }
  return method === 'GET' || method === 'DELETE' ? { method } : undefined
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
