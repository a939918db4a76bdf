import type { APIGatewayBotInfo } from 'discord.js'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Clock, within } from '../../../src/core/clock.ts'
import { onAbort } from '../../shared/deadline.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { type ChannelFacts, isSnowflake } from '../address.ts'
import { downAfter } from './close-codes.ts'
import { isSocketUrl } from './session-limit.ts'
import { type GatewayDispatch, Shard } from './shard.ts'
import { type VisibleChannel, VisibleChannels } from './visible-channels.ts'

/** Receives the events of one connection to the gateway. Each may come any number of times, `ended` once. */
export interface GatewayListener {
  /** A dispatch as it came over the wire. */
  dispatch(type: string, data: unknown): void
  /** A new session: nothing from before it will arrive. */
  ready(connection: GatewayConnection): void
  /**
   * The channels of a guild that arrived later than the session began: it was out of order, or the bot has joined it.
   */
  shown(channels: readonly VisibleChannel[]): void
  /** The old session continues; what was missed has been repeated. */
  resumed(): void
  /** The connection broke, or the session is to be resumed; until `ready` or `resumed` nothing is proven. */
  interrupted(): void
  /** The session will not come back. */
  ended(down: ChannelDown): void
  /** A heartbeat was acknowledged: the line is alive. It says nothing about the session. */
  acknowledged(): void
  /** Something is not as it should be, for a reason to count. */
  odd(what: 'unreadable' | 'too_long' | 'library_failed' | 'replay_with_hole'): void
}

export interface GatewayConnection {
  channel(id: string): ChannelFacts | undefined
  /** Every channel and open thread of every guild that can hold messages. */
  channels(): readonly VisibleChannel[]
  /** Ends it within `CLOSE_WITHIN_MS`; afterwards the listener is not called. Idempotent. */
  close(): Promise<void>
}

export interface GatewaySettings {
  readonly token: string
  /** The bot that the token belongs to. */
  readonly botId: string
  /** The information that holds the gateway's address. */
  readonly information: APIGatewayBotInfo
  readonly clock: Clock
  readonly signal: AbortSignal
}

const READY_WITHIN_MS = 45_000
/** For each guild that READY named: one that is out of order arrives much later. */
const GUILD_WITHIN_MS = 15_000
const CLOSE_WITHIN_MS = 3_000

/**
 * Begins one session and resolves once its guilds have arrived. From then on the library heartbeats, reconnects and
 * resumes; where it would begin another session, this one has ended.
 * @throws ChannelDown, permanent where only a person can mend the cause
 */
export function connectGateway(settings: GatewaySettings, listener: GatewayListener): Promise<GatewayConnection> {
  const { signal } = settings
  if (signal.aborted) return Promise.reject(temporary('stopped'))
  return new Promise((resolve, reject) => {
    let isSettled = false
    const settle = (act: () => void): void => {
      isSettled = true
      forget()
      act()
    }
    const session = new GatewaySession(settings, {
      ...listener,
      ready(connection) {
        listener.ready(connection)
        settle(() => resolve(connection))
      },
      ended(down) {
        if (isSettled) listener.ended(down)
        else settle(() => void session.close().then(() => reject(down)))
      },
    })
    const forget = onAbort(signal, () => session.end(temporary('stopped')))
    session.begin()
  })
}

/** One session of the gateway, and what arrived by it. */
class GatewaySession implements GatewayConnection {
  readonly #settings: GatewaySettings
  readonly #listener: GatewayListener
  readonly #shard: Shard
  #channels = new VisibleChannels()
  /** Guilds that READY named and that have not arrived yet. */
  #awaited = new Set<string>()
  /** READY came, and its guilds. */
  #hasBegun = false
  /** The number of the newest dispatch. */
  #sequence = 0
  #isInterrupted = false
  #hasHole = false
  #isOver = false
  #closing: Promise<void> | undefined
  #cancelWait: () => void = () => {}

  constructor(settings: GatewaySettings, listener: GatewayListener) {
    this.#settings = settings
    this.#listener = listener
    this.#shard = new Shard(settings.token, settings.information, {
      dispatched: (dispatch) => this.#dispatched(dispatch),
      acknowledged: () => listener.acknowledged(),
      tooLong: () => listener.odd('too_long'),
      closed: (code, trouble) => this.#closed(code, trouble),
      interrupted: () => this.#interrupted(),
      lost: () => this.end(temporary(this.#hasBegun ? SESSION_LOST : NO_SESSION)),
      failed: (why) => {
        listener.odd('library_failed')
        this.end(temporary(`what Discord's gateway sends cannot be read: ${why}`))
      },
    })
  }

  begin(): void {
    this.#waitFor(READY_WITHIN_MS, () => this.end(temporary(NO_READY)))
    this.#shard.connect()
  }

  channel(id: string): ChannelFacts | undefined {
    return this.#channels.get(id)
  }

  channels(): readonly VisibleChannel[] {
    return this.#channels.all()
  }

  end(down: ChannelDown): void {
    if (this.#isOver) return
    this.#stop()
    this.#listener.ended(down)
  }

  close(): Promise<void> {
    this.#stop()
    this.#closing ??= within(this.#settings.clock, CLOSE_WITHIN_MS, this.#shard.close()).then(() => {})
    return this.#closing
  }

  #stop(): void {
    this.#isOver = true
    this.#cancelWait()
    this.#shard.over()
  }

  #closed(code: number, trouble: string | undefined): void {
    const down = downAfter(code)
    if (down.permanent) this.end(down)
    else if (this.#hasBegun) this.#interrupted()
    else this.end(temporary(`${NO_SESSION}: ${trouble ?? down.message}`))
  }

  #interrupted(): void {
    if (!this.#hasBegun) return
    this.#isInterrupted = true
    this.#listener.interrupted()
  }

  #dispatched({ t: type, s: sequence, d: data }: GatewayDispatch): void {
    this.#count(sequence)
    if (type === 'READY') this.#begun(data)
    else if (type === 'RESUMED') this.#resumed()
    else if (typeof type !== 'string' || !isFields(data)) this.#listener.odd('unreadable')
    else this.#take(type, data)
  }

  #count(sequence: unknown): void {
    if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence)) return
    if (this.#isInterrupted && sequence > this.#sequence + 1) this.#hasHole = true
    this.#sequence = Math.max(this.#sequence, sequence)
  }

  #begun(data: unknown): void {
    const ready = readReady(data)
    const { botId } = this.#settings
    if (ready === undefined) this.end(temporary('Discord began a session with a READY that says nothing'))
    else if (ready.botId !== botId) this.end(temporary(ofAnother(ready.botId, botId)))
    else {
      this.#hasBegun = false
      this.#channels = new VisibleChannels()
      this.#awaited = new Set(ready.guilds)
      this.#waitForGuilds()
    }
  }

  /**
   * Reads missed messages back after each resume, because the platform loses some even without a gap in the numbers.
   */
  #resumed(): void {
    if (!this.#hasBegun) return
    if (this.#hasHole) this.#listener.odd('replay_with_hole')
    this.#isInterrupted = false
    this.#hasHole = false
    this.#listener.resumed()
  }

  #take(type: string, data: Fields): void {
    if (!this.#channels.take(type, data)) this.#listener.odd('unreadable')
    this.#listener.dispatch(type, data)
    const isGuild = type === 'GUILD_CREATE' || type === 'GUILD_DELETE'
    if (isGuild && this.#awaited.delete(String(data.id))) this.#waitForGuilds()
    else if (type === 'GUILD_CREATE' && this.#hasBegun && isSnowflake(data.id))
      this.#listener.shown(this.#channels.of(data.id))
  }

  #waitForGuilds(): void {
    const complete = (): void => {
      this.#awaited.clear()
      this.#hasBegun = true
      this.#listener.ready(this)
    }
    this.#cancelWait()
    if (this.#awaited.size === 0) complete()
    else this.#waitFor(GUILD_WITHIN_MS, complete)
  }

  #waitFor(ms: number, act: () => void): void {
    this.#cancelWait = this.#settings.clock.after(ms, act)
  }
}

const SESSION_LOST = 'Discord ended the session; beginning a new one'
const NO_SESSION = "Discord's gateway did not begin the session that was asked for"
const NO_READY = `Discord's gateway did not begin a session within ${READY_WITHIN_MS / 1000} s`

function temporary(detail: string): ChannelDown {
  return new ChannelDown(detail, { permanent: false })
}

function ofAnother(other: string, botId: string): string {
  return `Discord began a session for the bot ${other}, and the token is that of ${botId}: check apiRoot`
}

/** Returns what a READY says; undefined where it says less than one needs that is to be resumed. */
function readReady(data: unknown): { readonly botId: string; readonly guilds: readonly string[] } | undefined {
  const { user, session_id: session, resume_gateway_url: url, guilds } = isFields(data) ? data : {}
  const isResumable = url === undefined || url === null || isSocketUrl(url)
  if (!isFields(user) || !isSnowflake(user.id) || typeof session !== 'string') return undefined
  if (!isResumable || !Array.isArray(guilds)) return undefined
  const named = guilds.flatMap((guild) => (isFields(guild) && isSnowflake(guild.id) ? guild.id : []))
  return { botId: user.id, guilds: named }
}
