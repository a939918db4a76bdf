import type { Receiver } from '@slack/bolt'
import { DOORS } from '../../../src/core/doors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import { readJson } from '../../../src/core/read-json.ts'
import { isFields } from '../../shared/fields.ts'
import { type HttpAnswer, type HttpRequest, headerOf } from '../../shared/http-exchange.ts'
import { HttpListener } from '../../shared/http-listener.ts'
import type { Take } from '../inbound/bolt-app.ts'
import { isSignedBySlack } from './signature.ts'
import type { ReceiverPorts } from './socket-receiver.ts'

export interface HttpSettings extends Omit<ConstructorParameters<typeof HttpListener>[0], 'what' | 'mostBytes'> {
  readonly signingSecret: string
}

/** HTTP events: a signed request is answered with 200 after its commit and not before. */
export class HttpReceiver implements Receiver {
  readonly #settings: HttpSettings
  readonly #ports: ReceiverPorts
  readonly #listener: HttpListener
  #take: Take | undefined

  constructor(settings: HttpSettings, ports: ReceiverPorts) {
    this.#settings = settings
    this.#ports = ports
    this.#listener = new HttpListener(
      { ...settings, what: "Slack's events", mostBytes: DOORS.platformEvent.bytes },
      { handle: (request) => this.#handle(request) },
    )
  }

  init(): void {}

  use(take: Take): void {
    this.#take = take
  }

  /** @throws ChannelDown when the port cannot be had */
  async start(): Promise<void> {
    await this.#listener.start()
    this.#ports.onConnected()
  }

  /** Takes nothing more in, lets what is being stored be answered, closes. The caller bounds the wait. */
  stop(): Promise<void> {
    return this.#listener.stop()
  }

  kill(): void {
    this.#listener.kill()
  }

  /** Nothing of a body is read as more than bytes before its signature is. */
  async #handle({ headers, body }: HttpRequest): Promise<HttpAnswer> {
    const { clock, signingSecret } = this.#settings
    const signed = {
      signature: headerOf(headers, 'x-slack-signature'),
      timestamp: headerOf(headers, 'x-slack-request-timestamp'),
      body,
    }
    if (!isSignedBySlack(signingSecret, signed, clock.now())) return { status: 403 }
    this.#ports.onAlive()
    this.#ports.onProof()
    return this.#receive({ headers, body })
  }

  async #receive({ headers, body: raw }: HttpRequest): Promise<HttpAnswer> {
    const body = parse(raw, headers['content-type'])
    if (isFields(body) && body.type === 'url_verification') return { status: 200, body: String(body.challenge) }
    failpoint('CP1-received')
    const retryNum = Number(headerOf(headers, 'x-slack-retry-num'))
    const retryReason = headerOf(headers, 'x-slack-retry-reason')
    const retry = {
      ...(Number.isInteger(retryNum) && { retryNum }),
      ...(retryReason !== undefined && { retryReason }),
    }
    try {
      await this.#take?.({ body, ...retry })
    } catch {
      // Not stored, hence not confirmed: the platform gives it again. The function that refused it has logged why.
      return { status: 503 }
    }
    failpoint('CP2-committed')
    return { status: 200 }
  }
}

/**
 * Events are JSON; a slash command comes as a form, and the press of a button as JSON in a form. The signature is not
 * over the type: what begins as JSON is read as nothing else, whatever somebody wrote in it. Undefined: none of these,
 * or more than is read of one, to be counted as such.
 */
function parse(raw: Buffer, type = ''): unknown {
  const isForm = type.startsWith('application/x-www-form-urlencoded') && raw[0] !== OPEN_OBJECT
  const form = isForm ? readForm(raw) : undefined
  const payload = form?.get('payload')
  if (isForm && typeof payload !== 'string') return form && Object.fromEntries(form)
  try {
    return readJson(payload ?? raw, DOORS.platformEvent)
  } catch {
    return undefined
  }
}

const OPEN_OBJECT = 0x7b
const AMPERSAND = 0x26
/** A slash command has about fifteen. */
const MOST_FIELDS = 200

/** Undefined: more fields than any form of the platform has. */
function readForm(raw: Buffer): URLSearchParams | undefined {
  let from = 0
  for (let fields = 1; ; fields++) {
    if (fields > MOST_FIELDS) return undefined
    from = raw.indexOf(AMPERSAND, from) + 1
    if (from === 0) return new URLSearchParams(raw.toString('utf8'))
  }
}
