import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../core/clock.ts'
import type { AppState } from './app-state.ts'
import type { CommandDelivery, Delivery, EventQueue, Transport } from './event-queue.ts'
import type { SlackLedger, SocketEntry } from './ledger-entries.ts'
import { isRecord } from './params.ts'

type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled' | 'too_many_websockets'

interface Connection {
  readonly id: string
  readonly socket: WebSocket
  readonly unacknowledged: Map<string, Pick<Delivery, 'confirm' | 'fail'>>
  muted: boolean
  deaf: boolean
}

interface SocketDeps {
  readonly app: AppState
  readonly ledger: SlackLedger
  readonly clock: Clock
  readonly queue: EventQueue
  readonly host: string
}

const MOST_SOCKETS = 10
const PING_EVERY_MS = 10_000

/** Socket Mode: tickets, hello, envelopes to any one of the sockets, acknowledgements, disconnect frames, pings. */
export class Sockets implements Transport {
  readonly name = 'socket'
  readonly #deps: SocketDeps
  readonly #server: WebSocketServer
  readonly #tickets = new Set<string>()
  readonly #open = new Map<string, Connection>()
  /** True to refuse new connections before hello, as when the platform is in trouble. */
  refuseConnections = false
  #next = 1
  #turn = 0

  private constructor(deps: SocketDeps, server: WebSocketServer) {
    this.#deps = deps
    this.#server = server
    server.on('connection', (socket, request) => this.#connect(socket, request.url ?? ''))
  }

  static async start(deps: SocketDeps): Promise<Sockets> {
    const server = new WebSocketServer({ host: deps.host, port: 0 })
    await new Promise((resolve, reject) => {
      server.once('listening', resolve)
      server.once('error', reject)
    })
    return new Sockets(deps, server)
  }

  /** Returns a url for one connection, the answer of `apps.connections.open`. */
  issueUrl(): string {
    const ticket = randomUUID()
    this.#tickets.add(ticket)
    const { port } = this.#server.address() as AddressInfo
    return `ws://${this.#deps.host}:${port}/link/?ticket=${ticket}&app_id=${this.#deps.app.appId}`
  }

  get count(): number {
    return this.#open.size
  }

  deliver(delivery: Delivery): string | undefined {
    const ready = [...this.#open.values()].filter(({ muted }) => !muted)
    const connection = ready[this.#turn++ % Math.max(ready.length, 1)]
    if (connection === undefined) return undefined
    const envelope_id = randomUUID()
    connection.unacknowledged.set(envelope_id, delivery)
    if (connection.deaf) return connection.id
    this.#write(connection, {
      envelope_id,
      type: 'events_api',
      accepts_response_payload: false,
      payload: delivery.body,
      retry_attempt: delivery.retryNum,
      retry_reason: delivery.retryReason ?? '',
    })
    return connection.id
  }

  command(delivery: CommandDelivery): boolean {
    const connection = [...this.#open.values()].find(({ muted }) => !muted)
    if (connection === undefined) return false
    const envelope_id = randomUUID()
    connection.unacknowledged.set(envelope_id, delivery)
    this.#write(connection, {
      envelope_id,
      type: delivery.type,
      accepts_response_payload: true,
      payload: delivery.body,
    })
    return true
  }

  /** Sends an envelope that is no event: a slash command, a button. */
  sendEnvelope(type: string, payload: Readonly<Record<string, unknown>>): void {
    const connection = [...this.#open.values()][0]
    if (connection === undefined) throw new Error('No socket is connected.')
    this.#write(connection, { envelope_id: randomUUID(), type, accepts_response_payload: true, payload })
  }

  /** Sends a disconnect to every socket; `warning` and `refresh_requested` leave it open for the client to replace. */
  tellToGo(reason: DisconnectReason): void {
    for (const connection of this.#open.values()) this.#tell(connection, reason)
  }

  /** Destroys every connection without a close frame. */
  cut(): void {
    for (const { socket } of this.#open.values()) socket.terminate()
  }

  /** Keeps the connections but sends nothing any more, as behind a dead router. */
  mute(): void {
    for (const connection of this.#open.values()) {
      connection.muted = true
      connection.socket.pause()
    }
  }

  /** Keeps and pings the connections, but envelopes for them never arrive. New ones work. */
  deafen(): void {
    for (const connection of this.#open.values()) connection.deaf = true
  }

  close(): Promise<void> {
    for (const { socket } of this.#open.values()) socket.terminate()
    for (const client of this.#server.clients) client.terminate()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #connect(socket: WebSocket, url: string): void {
    socket.on('error', () => socket.terminate())
    const ticket = new URL(url, 'ws://localhost').searchParams.get('ticket') ?? ''
    if (this.refuseConnections || !this.#tickets.delete(ticket)) {
      socket.close(4001, 'invalid ticket')
      return
    }
    const connection: Connection = {
      id: `socket-${this.#next++}`,
      socket,
      unacknowledged: new Map(),
      muted: false,
      deaf: false,
    }
    const refusal = this.#refusal()
    if (refusal === undefined) this.#greet(connection)
    else this.#tell(connection, refusal)
  }

  #refusal(): DisconnectReason | undefined {
    if (!this.#deps.app.socketMode) return 'link_disabled'
    return this.#open.size >= MOST_SOCKETS ? 'too_many_websockets' : undefined
  }

  #greet(connection: Connection): void {
    const { socket } = connection
    this.#open.set(connection.id, connection)
    socket.on('message', (data) => this.#read(connection, String(data)))
    socket.on('ping', () => this.#record(connection, 'pinged'))
    const stopPings = this.#keepPinging(connection)
    socket.on('close', () => {
      stopPings()
      this.#closed(connection)
    })
    this.#write(connection, {
      type: 'hello',
      num_connections: this.#open.size,
      debug_info: { host: 'rehearsal', build_number: 1, approximate_connection_time: 18_060 },
      connection_info: { app_id: this.#deps.app.appId },
    })
    this.#record(connection, 'ready')
    this.#deps.queue.wake()
  }

  #keepPinging(connection: Connection): () => void {
    let cancel = (): void => {}
    const ping = (): void => {
      if (connection.socket.readyState === connection.socket.OPEN && !connection.muted) connection.socket.ping()
      cancel = this.#deps.clock.after(PING_EVERY_MS, ping)
    }
    ping()
    return () => cancel()
  }

  #read(connection: Connection, text: string): void {
    const frame = parse(text)
    const id = frame?.envelope_id
    if (typeof id !== 'string') {
      this.#deps.ledger.append({ kind: 'unrehearsed', at: this.#deps.clock.now(), what: `frame ${text}` })
      return
    }
    connection.unacknowledged.get(id)?.confirm()
    connection.unacknowledged.delete(id)
  }

  #closed(connection: Connection): void {
    this.#open.delete(connection.id)
    this.#record(connection, 'closed')
    for (const delivery of connection.unacknowledged.values()) delivery.fail('disconnected')
  }

  #tell(connection: Connection, reason: DisconnectReason): void {
    this.#write(connection, { type: 'disconnect', reason, debug_info: { host: 'rehearsal' } })
    this.#record(connection, 'told_to_go', reason)
    if (reason === 'link_disabled' || reason === 'too_many_websockets') connection.socket.close(1000)
  }

  #write({ socket }: Connection, frame: Readonly<Record<string, unknown>>): void {
    socket.send(JSON.stringify(frame))
  }

  #record({ id }: Connection, change: SocketEntry['change'], reason?: string): void {
    const at = this.#deps.clock.now()
    this.#deps.ledger.append({ kind: 'socket', at, id, change, ...(reason !== undefined && { reason }) })
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
