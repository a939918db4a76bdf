import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ListenOptions {
  /** Default 127.0.0.1. */
  host?: string
  /** Default 0: any free port. */
  port?: number
}

export interface HttpHandler {
  maxBodyBytes: number
  /**
   * Handles a request; `body` is the whole body, or null when it was longer than allowed (it was read to its end and
   * dropped).
   */
  handle(request: IncomingMessage, response: ServerResponse, body: Buffer | null): void
}

export interface RunningHttpServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** Destroys every connection at once, held requests too, and resolves when nothing is left open. Idempotent. */
  close(): Promise<void>
}

const empty = Buffer.alloc(0)

/** Starts a small keep-alive HTTP server that reads bodies whole. */
export async function startHttpServer(options: ListenOptions, handler: HttpHandler): Promise<RunningHttpServer> {
  const host = options.host ?? '127.0.0.1'
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    response.sendDate = false
    readBody(request, handler.maxBodyBytes, (body) => handler.handle(request, response, body))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= new Promise((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    return closing
  }
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, close }
}

/** Sends a whole body in one write; text that begins with `<` goes as HTML unless the headers say otherwise. */
export function sendBody(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer))
  response.end(answer.body)
}

export interface Answer {
  readonly status: number
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export function headersOf({ body, headers }: Answer): Record<string, string | number> {
  const type = typeof body === 'string' ? typeOf(body) : 'application/octet-stream'
  return { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers }
}

function typeOf(body: string): string {
  return body.startsWith('<') ? 'text/html; charset=utf-8' : 'application/json'
}

function readBody(request: IncomingMessage, most: number, done: (body: Buffer | null) => void): void {
  let first: Buffer = empty
  let more: Buffer[] | undefined
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > most) more = undefined
    else if (first.length === 0) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  })
  request.on('end', () => {
    if (size > most) done(null)
    else done(more === undefined ? first : Buffer.concat(more))
  })
}
