import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { DiscordServer, DiscordServerOptions } from '../../../src/rehearsal/discord/server.ts'
import { startDiscordServer } from '../../../src/rehearsal/discord/server.ts'

/** Guilds, their messages, direct messages and message content. */
export const INTENTS = 1 | (1 << 9) | (1 << 12) | (1 << 15)

/** A server for one test, closed at its end. */
export async function rehearse(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const server = await startDiscordServer(options)
  onTestFinished(() => server.close())
  return server
}

export interface RestAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

/** A REST call without any client library. */
export async function rest(
  server: DiscordServer,
  verb: string,
  path: string,
  { body, token = server.token }: { body?: object; token?: string } = {},
): Promise<RestAnswer> {
  const response = await fetch(`${server.apiRoot}/v10${path}`, {
    method: verb,
    headers: { authorization: `Bot ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text), headers: response.headers }
}

export interface Frame {
  readonly op: number
  readonly t?: string
  readonly s?: number
  readonly d: unknown
}

/** A bare connection to the gateway that keeps every frame. */
export class GatewayClient {
  readonly frames: Frame[] = []
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  #waiting: { readonly match: (frame: Frame) => boolean; readonly resolve: (frame: Frame) => void }[] = []

  constructor(server: DiscordServer) {
    this.#socket = new WebSocket(`${server.gateway.url}?v=10&encoding=json`)
    this.closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.on('message', (data) => this.#take(JSON.parse(String(data))))
    onTestFinished(() => this.#socket.terminate())
  }

  send(op: number, d: unknown): void {
    this.#socket.send(JSON.stringify({ op, d }))
  }

  /** Waits for HELLO and identifies. */
  async identify(token: string, intents = INTENTS): Promise<void> {
    await this.next((frame) => frame.op === 10)
    this.send(2, { token, intents, properties: { os: 'linux', browser: 'test', device: 'test' } })
  }

  async resume(token: string, session_id: string, seq: number): Promise<void> {
    await this.next((frame) => frame.op === 10)
    this.send(6, { token, session_id, seq })
  }

  dispatch(type: string): Promise<Frame> {
    return this.next(({ op, t }) => op === 0 && t === type)
  }

  next(match: (frame: Frame) => boolean): Promise<Frame> {
    const known = this.frames.find(match)
    return known ? Promise.resolve(known) : new Promise((resolve) => this.#waiting.push({ match, resolve }))
  }

  hangUp(code?: number): void {
    if (code === undefined) this.#socket.terminate()
    else this.#socket.close(code)
  }

  #take(frame: Frame): void {
    this.frames.push(frame)
    const met = this.#waiting.filter(({ match }) => match(frame))
    this.#waiting = this.#waiting.filter((waiter) => !met.includes(waiter))
    for (const { resolve } of met) resolve(frame)
  }
}
