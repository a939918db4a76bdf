import { createHmac } from 'node:crypto'
import type { AppState } from './app-state.ts'
import type { CommandDelivery, Delivery, Transport } from './event-queue.ts'

/** Returns the headers with the signature of a body: HMAC-SHA256 over `v0:<timestamp>:<raw body>`. */
export function signatureHeaders(secret: string, timestampSeconds: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(`v0:${timestampSeconds}:${body}`).digest('hex')
  return { 'x-slack-request-timestamp': String(timestampSeconds), 'x-slack-signature': `v0=${signature}` }
}

/** The platform as the sender of HTTP events to one Request URL. */
export class HttpEvents implements Transport {
  readonly name = 'http'
  readonly #app: AppState
  readonly #url: string
  readonly #now: () => number
  readonly #ackMs: number

  constructor({ app, url, now, ackMs }: { app: AppState; url: string; now: () => number; ackMs: number }) {
    this.#app = app
    this.#url = url
    this.#now = now
    this.#ackMs = ackMs
  }

  /** Checks the url as the platform does when it is entered: resolves with true if the challenge came back. */
  async verify(): Promise<boolean> {
    const challenge = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P'
    const response = await this.post(JSON.stringify({ type: 'url_verification', token: 'legacy', challenge }))
    return response.status === 200 && (await response.text()).includes(challenge)
  }

  deliver(delivery: Delivery): string {
    const retry: Record<string, string> =
      delivery.retryNum === 0
        ? {}
        : {
            'x-slack-retry-num': String(delivery.retryNum),
            'x-slack-retry-reason': delivery.retryReason ?? 'http_error',
          }
    this.post(JSON.stringify(delivery.body), retry).then(
      (response) => {
        if (response.ok) delivery.confirm()
        else delivery.fail('http_error', response.headers.get('x-slack-no-retry') === '1')
      },
      (error: unknown) => delivery.fail(isTimeout(error) ? 'http_timeout' : 'connection_failed'),
    )
    return this.name
  }

  command(delivery: CommandDelivery): boolean {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    this.post(String(new URLSearchParams(delivery.form)), type).then(
      (response) => (response.ok ? delivery.confirm() : delivery.fail('http_error')),
      (error: unknown) => delivery.fail(isTimeout(error) ? 'http_timeout' : 'connection_failed'),
    )
    return true
  }

  /** Sends a signed request with any body, for tests of the receiver. */
  post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const seconds = Math.floor(this.#now() / 1000)
    return fetch(this.#url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        ...signatureHeaders(this.#app.signingSecret, seconds, body),
        ...headers,
      },
      signal: AbortSignal.timeout(this.#ackMs),
    })
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
