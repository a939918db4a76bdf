import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

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

const MOST_BODY_BYTES = 1024 * 1024

/** Resolves when the answer was handed to the operating system. */
export function send(response: ServerResponse, answer: HttpAnswer): Promise<void> {
  const { status, body = '', retryAfterSeconds } = answer
  response.statusCode = status
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  // Nobody who was turned away holds a connection, and what was not read of a request ends with its own.
  if (status >= 400 && status < 500) response.setHeader('connection', 'close')
  const { socket } = response.req
  return new Promise((resolve, reject) => {
    const brokeOff = (): void => reject(new Error('the sender broke off'))
    if (socket.destroyed) return brokeOff()
    // The end of the connection: an answer that waits on it behind another one has no end of its own.
    socket.once('close', brokeOff)
    response.end(body, () => {
      socket.off('close', brokeOff)
      resolve()
    })
  })
}

/** Null when it is longer than allowed, which its length may say before any of it is read; the rest is not read. */
export function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BODY_BYTES) return Promise.resolve(null)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MOST_BODY_BYTES) {
        chunks.push(chunk)
        return
      }
      request.pause()
      resolve(null)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('close', () => reject(new Error('the sender broke off')))
  })
}

/** Returns the first value of a header. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
