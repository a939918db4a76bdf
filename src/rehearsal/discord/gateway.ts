import type { AddressInfo } from 'node:net'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { GatewaySession } from './gateway-session.ts'
import { refuseIntents } from './intents.ts'
import type { DiscordLedger, GatewayEntry } from './ledger-entries.ts'
import { isRecord } from './read-body.ts'
import type { DiscordWorld } from './world.ts'

export interface GatewayOptions {
  readonly host: string
  readonly heartbeatIntervalMs: number
  readonly token: () => string
  readonly messageContent: () => boolean
  readonly world: () => DiscordWorld
  readonly ledger: DiscordLedger
  readonly now: () => number
}

/** The number of sessions the platform lets the bot begin, as `/gateway/bot` reports it. Each IDENTIFY takes one. */
export interface SessionLimit {
  total: number
  remaining: number
  resetAfterMs: number
}

/** The questions that the gateway can leave without an answer, like one that is half dead. */
type Question = 'hello' | 'identify' | 'guilds' | 'resume'

interface Connection {
  readonly socket: WebSocket
  readonly number: number
  session?: GatewaySession
}

/** The gateway: HELLO, IDENTIFY, RESUME, heartbeats, and the failures that a test wants. */
export class Gateway {
  /** False if heartbeats are received and not acknowledged, as on a half-dead connection. */
  acknowledges = true
  /** True if events are neither sent nor kept for a resume, as the real one loses a dispatch now and then. */
  muted = false
  /** True if events are numbered, and neither sent nor kept for a resume. */
  loses = false
  /** The questions that are recorded and not answered; heartbeats are acknowledged all the same. */
  readonly unanswered = new Set<Question>()
  /** The fields laid over each READY: missing and nonsensical ones. */
  readyOver: Readonly<Record<string, unknown>> = {}
  /** True if every IDENTIFY is answered by "invalid session". */
  invalidatesAll = false
  /** True if the client is asked to reconnect after each READY and RESUMED. */
  restless = false
  readonly sessionLimit: SessionLimit = { total: 1000, remaining: 1000, resetAfterMs: 86_400_000 }
  readonly #held: (() => void)[] = []
  readonly #options: GatewayOptions
  readonly #server: WebSocketServer
  readonly #connections = new Set<Connection>()
  readonly #sessions = new Map<string, GatewaySession>()
  readonly #refusals: number[] = []
  #lastConnection = 0
  #lastSession = 0

  private constructor(options: GatewayOptions, server: WebSocketServer) {
    this.#options = options
    this.#server = server
    server.on('connection', (socket) => this.#welcome(socket))
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const server = new WebSocketServer({ host: options.host, port: 0 })
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve)
      server.once('error', reject)
    })
    return new Gateway(options, server)
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `ws://${this.#options.host}:${port}`
  }

  /** Sends a dispatch to every session, also to those that could still resume. */
  publish(type: string, data: Readonly<Record<string, unknown>>): void {
    if (this.muted) return
    for (const session of this.#sessions.values()) {
      if (this.loses) session.lose(type, data)
      else session.dispatch(type, data)
    }
  }

  /** Sends op 1: asks for a heartbeat at once, whatever the interval. */
  askForHeartbeat(): void {
    this.#sendAll({ op: 1, d: null, s: null, t: null })
  }

  /** Sends op 7: asks the client to reconnect and resume. */
  askToReconnect(): void {
    this.#sendAll({ op: 7, d: null, s: null, t: null })
  }

  /**
   * Sends op 9: the session is no longer valid; unless `resumable` it is forgotten, and its dispatches are not sent
   * again.
   */
  invalidate(resumable = false): void {
    if (!resumable) this.#sessions.clear()
    for (const connection of this.#connections) {
      connection.session?.detach(connection.socket)
      delete connection.session
    }
    this.#sendAll({ op: 9, d: resumable, s: null, t: null })
  }

  /**
   * Closes every connection with a code; the sessions stay, except after the codes with which the platform ends them.
   */
  close(code: number): void {
    for (const connection of this.#connections) this.#hangUp(connection, code)
  }

  /** Cuts the connections without a close frame. */
  cut(): void {
    for (const { socket } of this.#connections) socket.terminate()
  }

  /** Answers late the questions that were left without an answer. */
  answerLate(): void {
    this.unanswered.clear()
    for (const answer of this.#held.splice(0)) answer()
  }

  /** Sends a frame the driver cannot build, to every connection. */
  raw(frame: object): void {
    this.#sendAll(frame)
  }

  /** Forgets the sessions: a client that reconnects must identify. */
  forgetSessions(): void {
    this.#sessions.clear()
  }

  /** Answers the next IDENTIFY or RESUME with this close code. */
  refuseNext(code: number): void {
    this.#refusals.push(code)
  }

  stop(): Promise<void> {
    this.cut()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #welcome(socket: WebSocket): void {
    const connection: Connection = { socket, number: ++this.#lastConnection }
    this.#connections.add(connection)
    this.#record({ event: 'connected', connection: connection.number })
    socket.on('message', (data) => this.#receive(connection, data))
    socket.on('close', (code) => this.#gone(connection, code))
    socket.on('error', () => socket.terminate())
    const hello = { op: 10, d: { heartbeat_interval: this.#options.heartbeatIntervalMs }, s: null, t: null }
    this.#unlessHeld('hello', () => this.#send(socket, hello))
  }

  #unlessHeld(question: Question, answer: () => void): void {
    if (!this.unanswered.has(question)) {
      answer()
      return
    }
    this.#record({ event: 'unanswered', question })
    this.#held.push(answer)
  }

  #receive(connection: Connection, data: RawData): void {
    const frame = parse(data)
    if (frame?.op === 1) this.#beat(connection)
    else if (frame?.op === 2 || frame?.op === 6) this.#enter(connection, frame)
    else if (frame === undefined) this.#hangUp(connection, 4002)
    else if (connection.session === undefined) this.#hangUp(connection, 4003)
    else if (frame.op !== 3 && frame.op !== 4 && frame.op !== 8) this.#hangUp(connection, 4001)
  }

  #enter(connection: Connection, { op, d }: Frame): void {
    const payload = isRecord(d) ? d : {}
    const refusal = this.#refusals.shift() ?? this.#refusalOf(connection, op, payload)
    if (refusal !== undefined) this.#hangUp(connection, refusal)
    else if (op === 2) {
      this.sessionLimit.remaining--
      this.#unlessHeld('identify', () => this.#identify(connection, payload))
    } else this.#unlessHeld('resume', () => this.#resume(connection, payload))
  }

  #refusalOf({ session }: Connection, op: unknown, d: Readonly<Record<string, unknown>>): number | undefined {
    const { token, messageContent } = this.#options
    if (session !== undefined) return 4005
    if (d.token !== token()) return 4004
    if (op === 6) return undefined
    return isRecord(d.properties) ? refuseIntents(intentsOf(d), messageContent()) : 4002
  }

  #beat({ socket, session }: Connection): void {
    this.#record({ event: 'heartbeat', ...(session !== undefined && { sessionId: session.id }) })
    if (this.acknowledges) this.#send(socket, { op: 11 })
  }

  #identify(connection: Connection, d: Readonly<Record<string, unknown>>): void {
    const { messageContent, world, ledger, now } = this.#options
    if (this.invalidatesAll) {
      this.#record({ event: 'refused', code: 9 })
      this.#send(connection.socket, { op: 9, d: false, s: null, t: null })
      return
    }
    const { bot, guilds } = world()
    const intents = intentsOf(d)
    const session = new GatewaySession({ id: `session-${++this.#lastSession}`, intents, bot, ledger, now })
    this.#sessions.set(session.id, session)
    connection.session = session
    session.attach(connection.socket)
    this.#record({ event: 'identified', sessionId: session.id })
    session.dispatch('READY', {
      v: 10,
      user: bot,
      session_id: session.id,
      session_type: 'normal',
      resume_gateway_url: this.url,
      shard: [0, 1],
      guilds: [...guilds.keys()].map((id) => ({ id, unavailable: true })),
      application: { id: bot.id, flags: messageContent() ? 1 << 19 : 0 },
      ...this.readyOver,
    })
    this.#unlessHeld('guilds', () => {
      for (const id of guilds.keys()) session.dispatch('GUILD_CREATE', world().describeGuild(id))
      this.#record({ event: 'ready', sessionId: session.id, connection: connection.number })
      if (this.restless) this.askToReconnect()
    })
  }

  #resume(connection: Connection, d: Readonly<Record<string, unknown>>): void {
    const session = typeof d.session_id === 'string' ? this.#sessions.get(d.session_id) : undefined
    const seq = typeof d.seq === 'number' ? d.seq : Number.NaN
    session?.attach(connection.socket)
    if (session === undefined || !session.replay(seq)) {
      this.#record({ event: 'refused', code: 9 })
      this.#send(connection.socket, { op: 9, d: false, s: null, t: null })
      return
    }
    connection.session = session
    session.dispatch('RESUMED', {})
    this.#record({ event: 'resumed', sessionId: session.id, connection: connection.number })
    if (this.restless) this.askToReconnect()
  }

  #hangUp({ socket, session }: Connection, code: number): void {
    if (session === undefined) this.#record({ event: 'refused', code })
    if (session !== undefined && [4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014].includes(code)) {
      this.#sessions.delete(session.id)
    }
    socket.close(code)
  }

  #gone(connection: Connection, code: number): void {
    this.#connections.delete(connection)
    const { session, socket } = connection
    session?.detach(socket)
    // A client that closes in the ordinary way ends its session.
    if (session !== undefined && (code === 1000 || code === 1001)) this.#sessions.delete(session.id)
    this.#record({ event: 'closed', code, ...(session !== undefined && { sessionId: session.id }) })
  }

  #sendAll(frame: object): void {
    for (const { socket } of this.#connections) this.#send(socket, frame)
  }

  #send(socket: WebSocket, frame: object): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame))
  }

  #record(entry: Omit<GatewayEntry, 'kind' | 'at'>): void {
    this.#options.ledger.append({ kind: 'gateway', at: this.#options.now(), ...entry })
  }
}

interface Frame {
  readonly op: unknown
  readonly d: unknown
}

function intentsOf({ intents }: Readonly<Record<string, unknown>>): number {
  return typeof intents === 'number' ? intents : -1
}

function parse(data: RawData): Frame | undefined {
  try {
    const value: unknown = JSON.parse(String(data))
    return isRecord(value) ? { op: value.op, d: value.d } : undefined
  } catch {
    return undefined
  }
}
