import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { SocketModeClient } from '@slack/socket-mode'
import type { Clock } from '../../../src/core/clock.ts'
import { DOORS } from '../../../src/core/doors.ts'
import { errorCode } from '../../../src/core/errors.ts'
import { readJson } from '../../../src/core/read-json.ts'
import { notAnswered, publicUrl, whyUnanswered } from '../../../src/core/wire-error.ts'
import { proxyDispatcher } from '../../../src/platform/way-out.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { wordOf } from '../../shared/reading.ts'
import { CLIENT_OPTIONS, readRefusal, slackCall, strangerIn } from './client.ts'
import { quietLogger } from './quiet-logger.ts'
import { createWire, type WatchedCall, type Wire } from './wire-watch.ts'

export interface ConnectionSettings {
  readonly appToken: string
  readonly apiRoot: string | undefined
  readonly clock: Clock
}

export interface ConnectionPorts {
  /** Anything but hello and disconnect. */
  onEnvelope(envelope: Fields): void
  /** A frame is larger than is read of one, and is left out. */
  onTooLong(): void
  /** The platform asks to be left: it closes this connection soon. */
  onDisconnectAsked(reason: string): void
  /** It is over, whoever ended it. Called once, and only after `open` has resolved. */
  onClosed(): void
  /** Something came in, be it a ping. */
  onFrame(): void
}

/**
 * Thrown when there is no connection and the platform has not refused one; says what was asked where, and what came.
 */
export class NotOpened extends Error {
  override readonly name = 'NotOpened'
}

/** From asking for a url to hello. */
const OPEN_DEADLINE_MS = 20_000
/**
 * The package pings three times within this and ends the connection when the last pong is older. Its own 5 s end a
 * sound connection whenever the process did nothing for as long (F-D07).
 */
const PONG_DEADLINE_MS = 15_000
const PINGS = ['undici:websocket:ping', 'undici:websocket:pong']

/**
 * One connection of Socket Mode, opened once and never again: the package's own reconnection waits 5 s before it even
 * asks and lets its waits grow without a bound. It reads frames itself, because the package throws, in a
 * promise nobody holds, on an event without an inner one (`app_rate_limited`), which would end the process.
 */
export class SlackConnection extends SocketModeClient {
  readonly #clock: Clock
  readonly #ports: ConnectionPorts
  readonly #abort: AbortController
  readonly #wire: Wire
  readonly #watched: WatchedCall
  /** The socket through a proxy, if there is one: the package can end only those that it has opened itself. */
  readonly #opened: { readonly socket?: Socket }
  readonly #at: string | undefined
  readonly #onPing = (message: unknown): void => {
    if (isFields(message) && message.websocket === this.#rawSocket()) this.#ports.onFrame()
  }

  constructor({ appToken, apiRoot, clock }: ConnectionSettings, ports: ConnectionPorts) {
    const abort = new AbortController()
    const wire = createWire()
    const watched = wire.watch(() => {})
    const { fetch } = watched
    const opened: { socket?: Socket } = {}
    const dispatcher = proxyDispatcher((socket) => {
      opened.socket = socket
    })
    super({
      ...(dispatcher ? { dispatcher } : {}),
      appToken,
      autoReconnectEnabled: false,
      logger: quietLogger,
      clientPingTimeout: PONG_DEADLINE_MS,
      clientOptions: {
        ...CLIENT_OPTIONS,
        ...(apiRoot === undefined ? {} : { slackApiUrl: apiRoot }),
        fetch: (url, init) => fetch(url, { ...init, signal: abort.signal }),
      },
    })
    this.#abort = abort
    this.#wire = wire
    this.#opened = opened
    this.#watched = watched
    this.#at = apiRoot === undefined ? undefined : publicUrl(apiRoot)
    this.#clock = clock
    this.#ports = ports
  }

  /** Resolves when the platform has said hello. @throws the package's error for a refusal, else NotOpened */
  async open(): Promise<void> {
    for (const name of PINGS) subscribe(name, this.#onPing)
    const cancel = this.#clock.after(OPEN_DEADLINE_MS, () => this.kill())
    try {
      await this.start()
    } catch (error) {
      this.kill()
      throw this.#failure(error)
    } finally {
      cancel()
    }
    this.once('disconnected', () => {
      this.#forget()
      this.#ports.onClosed()
    })
  }

  #failure(error: unknown): unknown {
    const wireCall = slackCall('apps.connections.open', this.#at)
    const stranger = strangerIn(error, { watched: this.#watched, wireCall })
    const words = error === undefined ? 'closed before hello' : whyUnanswered(error).slice(0, 300)
    const named = this.websocket !== undefined
    if (named) return new NotOpened(notAnswered(wireCall, `the socket it named did not open: ${words}`))
    if (stranger !== undefined) return new NotOpened(stranger, { cause: error })
    return readRefusal(error) === null ? new NotOpened(notAnswered(wireCall, words), { cause: error }) : error
  }

  /** Acknowledges an envelope. False: the connection is gone, and the platform will repeat it. */
  acknowledge(envelopeId: string): boolean {
    if (this.websocket?.isActive() !== true) return false
    this.websocket.send(JSON.stringify({ envelope_id: envelopeId }), () => {})
    return true
  }

  /** Ends the connection now, without waiting for the other side. Idempotent. */
  kill(): void {
    this.#abort.abort()
    this.#wire.close()
    this.#forget()
    void this.disconnect()
    // The second time the package no longer waits for a close frame that may never come.
    this.websocket?.disconnect()
    this.#opened.socket?.destroy()
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    if (this.#abort.signal.aborted) return
    this.#ports.onFrame()
    const frame = this.#read(data)
    if (frame?.type === 'hello') await super.onWebSocketMessage(data, isBinary)
    else if (frame?.type === 'disconnect') this.#ports.onDisconnectAsked(wordOf(frame.reason))
    else if (frame !== undefined) this.#ports.onEnvelope(frame)
  }

  /** Nothing has parsed the frame before, and the package holds none of more than 128 MB. */
  #read(data: string | ArrayBuffer): Fields | undefined {
    try {
      const frame = readJson(typeof data === 'string' ? data : new Uint8Array(data), DOORS.platformEvent)
      return isFields(frame) ? frame : undefined
    } catch (error) {
      if (errorCode(error) === 'too_long') this.#leaveOut(data)
      return undefined
    }
  }

  /** Acknowledges a frame that would otherwise be repeated, each time as large. */
  #leaveOut(frame: string | ArrayBuffer): void {
    this.#ports.onTooLong()
    const id = typeof frame === 'string' ? envelopeIdIn(frame) : undefined
    if (id !== undefined) this.acknowledge(id)
  }

  #forget(): void {
    for (const name of PINGS) unsubscribe(name, this.#onPing)
  }

  /** Pings are published on a channel all sockets of the process share; the package keeps ours in a private field. */
  #rawSocket(): unknown {
    return this.websocket === undefined ? undefined : Reflect.get(this.websocket, 'websocket')
  }
}

/** The id stands before the payload or behind it. */
const ENVELOPE_ID = /"envelope_id"\s*:\s*"([\w-]{1,100})"/
const LOOKED_AT = 1000

function envelopeIdIn(frame: string): string | undefined {
  return (ENVELOPE_ID.exec(frame.slice(0, LOOKED_AT)) ?? ENVELOPE_ID.exec(frame.slice(-LOOKED_AT)))?.[1]
}
