import { type Client, Events } from 'discord.js'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Clock, within } from '../../../src/core/clock.ts'
import { toError } from '../../../src/core/errors.ts'
import { isFields } from '../../shared/fields.ts'
import { type ChannelFacts, isSnowflake, toKind } from '../address.ts'
import { downAfter, TOKEN_REFUSED } from './close-codes.ts'
import { createGatewayClient } from './gateway-client.ts'
import { isSocketUrl } from './session-limit.ts'

/** What one connection to the gateway tells. Everything may come any number of times, `ended` once. */
export interface GatewayListener {
  /** A dispatch as it came over the wire. */
  dispatch(type: string, data: unknown): void
  /** A new session: nothing from before it will be told. */
  ready(connection: GatewayConnection): void
  /** The old session goes on; what was missed has been told again. */
  resumed(): void
  /** The connection broke, or the session is to be taken up again; until `ready` or `resumed` nothing is proven. */
  interrupted(): void
  /** The client will not come back by itself. */
  ended(down: ChannelDown): void
  /** A heartbeat was acknowledged: the line is alive. It says nothing about the session. */
  acknowledged(): void
  /** The client could not read a dispatch. */
  unreadable(): void
}

export interface VisibleChannel extends ChannelFacts {
  readonly lastMessageId: string | null
  /** When the bot joined the guild, ms since the epoch; absent where the platform does not tell. */
  readonly joinedAt?: number
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
  /** Who the token was said to belong to. */
  readonly botId: string
  readonly apiRoot: string | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
}

const CONNECT_WITHIN_MS = 45_000
const CLOSE_WITHIN_MS = 3_000
/** The lines that discord.js 14 writes to its debug log where it hears of these; it has no events for them. */
const ACKNOWLEDGED = /Heartbeat acknowledged/
const RESUMING = /Resuming session/
const INVALIDATED = /Invalid session; will attempt to resume: false/

/**
 * Begins one session and resolves when it is ready. From then on discord.js heartbeats, reconnects and resumes; where it
 * would begin another session, it has ended.
 * @throws ChannelDown, permanent where only a person can mend the cause
 */
export function connectGateway(settings: GatewaySettings, listener: GatewayListener): Promise<GatewayConnection> {
  const { token, botId, apiRoot, clock, signal } = settings
  return new Promise((resolve, reject) => {
    let settled = false
    const wantsSession = (): void => fail(temporary(settled ? SESSION_LOST : NO_SESSION))
    let over = false
    const client = createGatewayClient(apiRoot, {
      wantsSession,
      isOver: () => over,
      broke: ({ message }) => fail(temporary(`what Discord's gateway sends cannot be read: ${message}`)),
      unreadable: () => listener.unreadable(),
    })
    const connection = connectionOf(client, { clock, onClose: () => (over = true) })
    const settle = (act: () => void): void => {
      if (settled) return
      settled = true
      cancel()
      signal.removeEventListener('abort', onAbort)
      act()
    }
    const fail = (down: ChannelDown): void => {
      if (settled) listener.ended(down)
      else settle(() => void connection.close().then(() => reject(down)))
    }
    const onAbort = (): void => fail(temporary('stopped'))
    const cancel = clock.after(CONNECT_WITHIN_MS, () =>
      fail(temporary(`Discord's gateway did not begin a session within ${CONNECT_WITHIN_MS / 1000} s`)),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    listen(client, botId, { ...listener, ended: fail })
    client.on(Events.Debug, (line) => {
      if (INVALIDATED.test(line)) wantsSession()
    })
    client.on(Events.ShardReady, () => {
      listener.ready(connection)
      settle(() => resolve(connection))
    })
    client.login(token).catch((thrown: unknown) => fail(downFrom(thrown)))
  })
}

const SESSION_LOST = 'Discord ended the session; beginning a new one'
const NO_SESSION = "Discord's gateway did not begin the session that was asked for"

function temporary(detail: string): ChannelDown {
  return new ChannelDown(detail, { permanent: false })
}

function listen(client: Client, botId: string, listener: GatewayListener): void {
  client.on(Events.Raw, ({ t, d }: { t?: unknown; d?: unknown }) => {
    const why = t === 'READY' ? unfit(d, botId) : undefined
    if (why !== undefined) listener.ended(temporary(why))
    else if (typeof t === 'string') listener.dispatch(t, d)
  })
  client.on(Events.ShardResume, () => listener.resumed())
  client.on(Events.ShardReconnecting, () => listener.interrupted())
  client.on(Events.ShardDisconnect, ({ code }) => listener.ended(downAfter(code)))
  client.on(Events.Debug, (line) => {
    if (ACKNOWLEDGED.test(line)) listener.acknowledged()
    else if (RESUMING.test(line)) listener.interrupted()
  })
  // What breaks a connection is told by its end; without listeners these would end the process.
  client.on(Events.ShardError, () => {})
  client.on(Events.Error, () => {})
}

/** Returns why a session cannot be used: it says less than one needs that is to be resumed, or belongs to another bot. */
function unfit(data: unknown, botId: string): string | undefined {
  const { user, session_id: session, resume_gateway_url: url, guilds } = isFields(data) ? data : {}
  const resumable = url === undefined || url === null || isSocketUrl(url)
  if (!isFields(user) || !isSnowflake(user.id) || typeof session !== 'string' || !resumable || !Array.isArray(guilds))
    return 'Discord began a session with a READY that says nothing'
  if (user.id === botId) return undefined
  return `Discord began a session for the bot ${user.id}, and the token is that of ${botId}: check apiRoot`
}

function connectionOf(client: Client, ports: { readonly clock: Clock; onClose(): void }): GatewayConnection {
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    ports.onClose()
    client.removeAllListeners()
    client.on(Events.ShardError, () => {})
    client.on(Events.Error, () => {})
    await client.destroy().catch(() => {})
  }
  return {
    channel: (id) => visible(client.channels.cache.get(id)),
    channels: () => client.channels.cache.map((channel) => visible(channel)).filter((channel) => channel !== undefined),
    close: () => (closing ??= within(ports.clock, CLOSE_WITHIN_MS, close()).then(() => {})),
  }
}

/** The parts of a cached channel that matter; a category or forum is none. */
function visible(channel: object | undefined): VisibleChannel | undefined {
  if (channel === undefined || !('id' in channel) || !('type' in channel)) return undefined
  const { id } = channel
  const kind = toKind(channel.type)
  if (kind === undefined || typeof id !== 'string') return undefined
  const text = (key: 'guildId' | 'parentId' | 'lastMessageId'): string | undefined => {
    const value = Reflect.get(channel, key)
    return typeof value === 'string' ? value : undefined
  }
  const guild: unknown = Reflect.get(channel, 'guild')
  const joinedAt: unknown = typeof guild === 'object' && guild !== null && Reflect.get(guild, 'joinedTimestamp')
  const [guildId, parentId] = [text('guildId'), text('parentId')]
  return {
    id,
    kind,
    lastMessageId: text('lastMessageId') ?? null,
    ...(typeof joinedAt === 'number' && joinedAt > 0 ? { joinedAt } : {}),
    ...(guildId === undefined ? {} : { guildId }),
    ...(kind === 'thread' && parentId !== undefined ? { parentId } : {}),
  }
}

function downFrom(thrown: unknown): ChannelDown {
  const cause = toError(thrown)
  if ('code' in cause && cause.code === 'TokenInvalid') return new ChannelDown(TOKEN_REFUSED, { permanent: true })
  return temporary(`Discord: the gateway could not be connected to: ${cause.message}`)
}
