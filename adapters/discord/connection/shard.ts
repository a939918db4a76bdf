import { WebSocketShard, WebSocketShardEvents, WebSocketShardStatus } from '@discordjs/ws'
import type { APIGatewayBotInfo } from 'discord.js'
import { DOORS } from '../../../src/core/doors.ts'
import { errorCode } from '../../../src/core/errors.ts'
import { readJson } from '../../../src/core/read-json.ts'
import { whyUnanswered } from '../../../src/core/wire-error.ts'
import { takeFailures } from './library-failures.ts'
import { ShardContext } from './shard-context.ts'

export interface GatewayDispatch {
  readonly t: unknown
  readonly s: unknown
  readonly d: unknown
}

/** Receives the events of the one shard, until `over` or `close` is called. */
export interface ShardListener {
  /** A dispatch, in the order of the wire; READY and RESUMED are some. */
  dispatched(dispatch: GatewayDispatch): void
  /** A heartbeat was acknowledged. */
  acknowledged(): void
  /** A frame is larger than is read of one, and is left out. */
  tooLong(): void
  /** The socket closed; `trouble` is what the library said of it last. */
  closed(code: number, trouble: string | undefined): void
  /** The library takes the session up again, on another socket or on the same. */
  interrupted(): void
  /** The library gives the session up, and would begin another one. */
  lost(): void
  /** The library did not get along with what came in: it threw, or would not stop beating. */
  failed(why: string): void
}

/** The code of a socket that ended without a closing frame. */
const CUT_OFF = 1006

/**
 * The library's connection for one session, by its public events and questions alone. It heartbeats, reconnects and
 * resumes by itself.
 */
export class Shard {
  readonly #listener: ShardListener
  readonly #context: ShardContext
  readonly #shard: WebSocketShard
  readonly #forgetFailures: () => void
  /** HELLO came on the socket there is. */
  #isGreeted = false
  /** The socket there was closed without a closing frame. */
  #isCutOff = false
  #isLooking = false
  #isOver = false
  #isGivenUp = false
  #trouble: string | undefined

  constructor(token: string, information: APIGatewayBotInfo, listener: ShardListener) {
    this.#listener = listener
    this.#context = new ShardContext({
      token,
      information,
      asked: () => this.#asked(),
      isCutOff: () => this.#isCutOff,
      lost: () => listener.lost(),
    })
    this.#shard = new WebSocketShard(this.#context, 0)
    readFrames(this.#shard, () => {
      if (!this.#isOver) listener.tooLong()
    })
    this.#forgetFailures = takeFailures(this.#shard, ({ message }) => listener.failed(message))
    this.#listen()
  }

  connect(): void {
    // An event reported the reason of the rejection before.
    this.#shard.connect().catch(() => {})
  }

  /** From now on no event is passed on, and nothing is connected or resumed. Idempotent. */
  over(): void {
    this.#isOver = true
    this.#context.over()
    this.#forgetFailures()
  }

  /**
   * Ends the connection; call once. Until HELLO it is unknown whether the socket is still being opened, and the library
   * would drop one that is, whose failure would then end the process: such a socket is closed when HELLO comes, or by
   * the library when none does.
   */
  async close(): Promise<void> {
    this.over()
    this.#isGivenUp = this.#shard.status === WebSocketShardStatus.Connecting && !this.#isGreeted
    if (!this.#isGivenUp) await this.#destroy()
  }

  async #destroy(): Promise<void> {
    const ended = this.#shard.destroy()
    this.#context.closed()
    await ended
  }

  #listen(): void {
    const shard = this.#shard
    shard.on(WebSocketShardEvents.Hello, () => this.#greeted())
    shard.on(WebSocketShardEvents.Dispatch, ({ data }) => {
      if (!this.#isOver) this.#listener.dispatched(data)
    })
    shard.on(WebSocketShardEvents.HeartbeatComplete, () => {
      if (!this.#isOver) this.#listener.acknowledged()
    })
    shard.on(WebSocketShardEvents.Closed, ({ code }) => {
      this.#isCutOff = code === CUT_OFF
      if (!this.#isOver) this.#listener.closed(code, this.#trouble)
    })
    // The end of a connection reports its cause; without a listener this event would end the process.
    shard.on(WebSocketShardEvents.Error, ({ error }) => {
      this.#trouble = whyUnanswered(error)
    })
  }

  #greeted(): void {
    // It forgets the heartbeat of the first HELLO, which then breaks one connection after the other.
    if (this.#isGreeted && !this.#isOver) this.#listener.failed('a second HELLO')
    this.#isGreeted = true
    // Not at once, for the library has only begun to greet.
    if (this.#isGivenUp) setImmediate(() => void this.#destroy())
  }

  /** The library asks before it opens a socket, also where the last one was not reported as closed. */
  #asked(): void {
    if (this.#shard.status === WebSocketShardStatus.Idle) {
      this.#isGreeted = false
      this.#isCutOff = false
      this.#listener.interrupted()
    } else if (!this.#isLooking) {
      this.#isLooking = true
      setImmediate(() => this.#look())
    }
  }

  /** It asks as well before it resumes on the same socket: whether it does is to be seen once it has its answer. */
  #look(): void {
    this.#isLooking = false
    if (!this.#isOver && this.#shard.status === WebSocketShardStatus.Resuming) this.#listener.interrupted()
  }
}

/**
 * Has an object of the library read its frames within bounds: by itself it parses whatever comes. Frames are texts,
 * since no compression is asked for, and its socket holds none of more than 100 MB.
 */
function readFrames(shard: object, tooLong: () => void): void {
  if (typeof Reflect.get(shard, READ) !== 'function')
    throw new TypeError('This version of @discordjs/ws reads otherwise.')
  const read = async (data: unknown): Promise<unknown> => {
    try {
      return typeof data === 'string' ? readJson(data, DOORS.platformFrame) : null
    } catch (error) {
      if (errorCode(error) === 'too_long') tooLong()
      return null
    }
  }
  Object.defineProperty(shard, READ, { value: read })
}

/** The library's method that makes a value of a frame; null: it is left out. */
const READ = 'unpackMessage'
