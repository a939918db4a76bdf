import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { type SlackServer, type SlackServerOptions, startSlackServer } from '../../../src/rehearsal/slack/server.ts'

/** A server for one test, closed at its end. */
export async function rehearse(options: SlackServerOptions = {}): Promise<SlackServer> {
  const server = await startSlackServer(options)
  onTestFinished(() => server.close())
  return server
}

export interface RawAnswer {
  readonly ok: boolean
  readonly error?: string
  readonly [field: string]: unknown
}

/** A call without any client library. */
export async function call(server: SlackServer, method: string, params: Record<string, unknown> = {}, token?: string) {
  const fields = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const bearer = token ?? (method.startsWith('apps.') ? server.app.appToken : server.app.botToken)
  const response = await fetch(`${server.apiRoot}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
  const body = (await response.json()) as RawAnswer
  return { status: response.status, headers: response.headers, body }
}

/** The word of a refusal, and `ok` where there was none. */
export async function refusal(server: SlackServer, method: string, params: Record<string, unknown> = {}) {
  const { body } = await call(server, method, params)
  return body.ok ? 'ok' : String(body.error)
}

export interface Frame {
  readonly type: string
  readonly envelope_id?: string
  readonly retry_attempt?: number
  readonly retry_reason?: string
  readonly reason?: string
  readonly num_connections?: number
  readonly payload?: { readonly event_id: string; readonly event: Readonly<Record<string, unknown>> }
}

export interface RawSocket {
  /** Frames in the order they came, each once. */
  next(): Promise<Frame>
  ack(frame: Frame): void
  readonly closed: Promise<number>
  close(): void
}

/** A socket without any client library: asks for a url and connects. */
export async function connect(server: SlackServer): Promise<RawSocket> {
  const { body } = await call(server, 'apps.connections.open')
  const socket = new WebSocket(String(body.url))
  onTestFinished(() => socket.terminate())
  const frames: Frame[] = []
  const waiting: ((frame: Frame) => void)[] = []
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame
    const wake = waiting.shift()
    if (wake === undefined) frames.push(frame)
    else wake(frame)
  })
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)))
  socket.on('error', () => {})
  return {
    next() {
      const frame = frames.shift()
      return frame === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(frame)
    },
    ack: ({ envelope_id }) => socket.send(JSON.stringify({ envelope_id, payload: {} })),
    closed,
    close: () => socket.close(),
  }
}
