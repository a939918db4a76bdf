import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Receiver } from '@slack/bolt'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { toError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import { isFields } from '../../shared/fields.ts'
import type { Take } from '../inbound/intake.ts'
import { isSignedBySlack } from './signature.ts'
import type { ReceiverPorts } from './socket-receiver.ts'

export interface HttpSettings {
  readonly signingSecret: string
  readonly listen: { readonly host: string; readonly port: number; readonly path: string }
  readonly clock: Clock
}

const MOST_BODY_BYTES = 1024 * 1024
/** A sender that takes longer over its request is not the platform. */
const REQUEST_TIMEOUT_MS = 10_000

/** HTTP events: a signed request is answered with 200 after its commit and not before. */
export class HttpReceiver implements Receiver {
  readonly #settings: HttpSettings
  readonly #ports: ReceiverPorts
  readonly #working = new Set<Promise<void>>()
  #server: Server | undefined
  #take: Take | undefined
  #stopped = false

  constructor(settings: HttpSettings, ports: ReceiverPorts) {
    this.#settings = settings
    this.#ports = ports
  }

  init(): void {}

  use(take: Take): void {
    this.#take = take
  }

  /** @throws ChannelDown when the port cannot be had */
  async start(): Promise<void> {
    const { host, port } = this.#settings.listen
    const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      const work = this.#answer(request, response).finally(() => this.#working.delete(work))
      this.#working.add(work)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const detail = `the port for Slack's events cannot be had (${host}:${port}): ${toError(error).message}`
        reject(new ChannelDown(detail, { permanent: false, cause: error }))
      })
      server.listen(port, host, resolve)
    })
    this.#server = server
    this.#ports.onConnected()
  }

  /** Takes nothing more in, lets what is being stored be answered, closes. The caller bounds the wait. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#server?.close()
    await Promise.allSettled(this.#working)
    this.kill()
  }

  kill(): void {
    this.#stopped = true
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  /** Never rejects. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { status, body } = await this.#handle(request)
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
      if (status === 200) failpoint('CP3-acked')
    } catch {
      // The sender broke off, or nothing more is taken in.
      response.destroy()
    }
  }

  /** Nothing is said of why a request was turned away, and nothing of it is read before its signature is. */
  async #handle(request: IncomingMessage): Promise<{ status: number; body: string }> {
    const { clock, listen, signingSecret } = this.#settings
    const path = (request.url ?? '').split('?')[0]
    if (path !== listen.path) return refused(404)
    if (request.method !== 'POST') return refused(405)
    const body = await readBody(request)
    if (body === null) return refused(413)
    const signed = {
      signature: header(request, 'x-slack-signature'),
      timestamp: header(request, 'x-slack-request-timestamp'),
      body,
    }
    if (!isSignedBySlack(signingSecret, signed, clock.now())) return refused(401)
    if (this.#stopped) return refused(503)
    this.#ports.onAlive()
    this.#ports.onProof()
    return this.#receive(request, body)
  }

  async #receive(request: IncomingMessage, raw: Buffer): Promise<{ status: number; body: string }> {
    const body = parse(raw, header(request, 'content-type'))
    if (isFields(body) && body.type === 'url_verification') return { status: 200, body: String(body.challenge) }
    failpoint('CP1-received')
    const retryNum = Number(header(request, 'x-slack-retry-num'))
    const retryReason = header(request, 'x-slack-retry-reason')
    const retry = {
      ...(Number.isInteger(retryNum) && { retryNum }),
      ...(retryReason !== undefined && { retryReason }),
    }
    try {
      await this.#take?.({ body, ...retry })
    } catch {
      // Not stored, hence not confirmed: the platform gives it again. Whoever refused it has told why.
      return refused(503)
    }
    failpoint('CP2-committed')
    return { status: 200, body: '' }
  }
}

function refused(status: number): { status: number; body: string } {
  return { status, body: '' }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Null when it is longer than allowed; the rest is not read. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MOST_BODY_BYTES) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** Events are JSON; a slash command, or a button, comes as a form. Undefined: neither, to be counted as such. */
function parse(raw: Buffer, type = ''): unknown {
  const text = raw.toString('utf8')
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
