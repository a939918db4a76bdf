import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Bytes, tooManyPieces } from '../../src/core/read-bytes.ts'

export interface HttpRequest {
  readonly headers: IncomingHttpHeaders
  /** Exactly as it came. */
  readonly body: Buffer
}

export interface HttpAnswer {
  readonly status: number
  readonly body?: string
  readonly retryAfterSeconds?: number
}

/** Resolves when the answer was handed to the operating system. */
export function send(response: ServerResponse, answer: HttpAnswer): Promise<void> {
  const { status, body = '', retryAfterSeconds } = answer
  response.statusCode = status
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  // Nobody who was turned away holds a connection, and what was not read of a request ends with its own.
  if (status >= 400 && status < 500) response.setHeader('connection', 'close')
  return new Promise((resolve, reject) => {
    const brokeOff = (): void => reject(new Error('the sender broke off'))
    if (response.req.socket.destroyed) return brokeOff()
    response.once('close', brokeOff)
    response.end(body, () => resolve())
  })
}

export interface BodyBounds {
  readonly most: number
  /** True: the rest of a longer body is read and dropped, so that its sender can be answered. */
  readonly drops: boolean
  /** Called with the bytes of each piece that is kept. */
  took(length: number): void
}

/**
 * Returns the body of a request. Null when it is longer than `most` bytes, which its length may say before any of it is
 * read; the rest is not read. Rejects where it broke off, and for one in too many pieces, whose sender is no platform.
 */
export function readBody(request: IncomingMessage, { most, drops, took }: BodyBounds): Promise<Buffer | null> {
  if (!drops && Number(request.headers['content-length'] ?? 0) > most) return Promise.resolve(null)
  return new Promise((resolve, reject) => {
    const bytes = new Bytes(most)
    let [isLonger, count, length] = [false, 0, 0]
    request.on('data', (piece: Buffer) => {
      length += piece.length
      if (tooManyPieces(++count, length)) {
        request.pause()
        return reject(new Error('the body comes in too many pieces'))
      }
      if (!isLonger) took(piece.length)
      isLonger ||= !bytes.add(piece)
      if (!isLonger || drops) return
      request.pause()
      resolve(null)
    })
    request.once('end', () => resolve(isLonger ? null : bytes.whole()))
    request.once('error', reject)
    request.once('close', () => reject(new Error('the sender broke off')))
  })
}

/** Returns the first value of a header. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
