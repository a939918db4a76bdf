import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >
  readonly result?: unknown
  readonly error?: { readonly code: number }
}

/** One request as it came, with the way to answer it. */
export interface Asked {
  /** The method of HTTP. */
  readonly verb: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly message: Message
  readonly response: ServerResponse
  /** Resolves when the client has ended the connection, or the answer was sent. */
  readonly closed: Promise<void>
}

export interface HttpToolServer {
  readonly url: string
  /** Everything that was asked, in order. */
  readonly asked: Asked[]
  /** Resolves with the first request that `where` returns true for, come already or still to come. */
  next(where: (asked: Asked) => boolean): Promise<Asked>
  /** Writes one event with a message to a stream that is begun by it. */
  event(asked: Asked, message: unknown, more?: { readonly id?: string; readonly retry?: number }): void
}

/** Answers a request as a part of the tests wants it; undefined: in the ordinary way. */
export type Answers = (asked: Asked, server: HttpToolServer) => unknown

export const TOOLS = [{ name: 'add', inputSchema: { type: 'object' } }]

/** Starts a tool server by streamable HTTP, real HTTP over a real socket, whose every answer a test may replace. */
export async function startHttpToolServer(answers: Answers): Promise<HttpToolServer> {
  const asked: Asked[] = []
  const waiting: { readonly where: (asked: Asked) => boolean; resolve(asked: Asked): void }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const one: Asked = {
      ...{ verb: request.method ?? '', path: request.url ?? '', headers: request.headers, response },
      message: body === '' ? {} : JSON.parse(body),
      closed: new Promise((resolve) => response.once('close', resolve)),
    }
    asked.push(one)
    for (const { where, resolve } of waiting) if (where(one)) resolve(one)
    if ((await answers(one, known)) === undefined) ordinary(one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const known: HttpToolServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    next(where) {
      const before = asked.find(where)
      return before ? Promise.resolve(before) : new Promise((resolve) => waiting.push({ where, resolve }))
    },
    event({ response }, message, { id, retry } = {}) {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
      const lines = [
        id && `id: ${id}`,
        retry && `retry: ${retry}`,
        `data: ${message === '' ? '' : JSON.stringify(message)}`,
      ]
      response.write(`${lines.filter(Boolean).join('\n')}\n\n`)
    },
  }
  return known
}

/** The answer of a server without quirks, as JSON. */
export function resultOf({ message: { method, params } }: Asked): unknown {
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {}
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } }
  }
  return method === 'tools/list' ? { tools: TOOLS } : text(String(params?.name))
}

export function text(words: string): unknown {
  return { content: [{ type: 'text', text: words }] }
}

export function answerTo({ message: { id } }: Asked, result: unknown): object {
  return { jsonrpc: '2.0', id, result }
}

export function send({ response }: Asked, status: number, body: unknown = undefined, headers: object = {}): true {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json'
  const written = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  response.writeHead(status, { ...(body === undefined ? {} : { 'content-type': type }), ...headers }).end(written)
  return true
}

function ordinary(asked: Asked): void {
  if (asked.verb !== 'POST') send(asked, 405)
  else if (asked.message.id === undefined || asked.message.method === undefined) send(asked, 202)
  else send(asked, 200, answerTo(asked, resultOf(asked)))
}
