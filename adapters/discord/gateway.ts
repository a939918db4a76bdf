import { Client, Events, GatewayIntentBits, Options, Partials } from 'discord.js'
import { ChannelDown } from '../../src/channels/adapter.ts'
import type { Clock } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { type ChannelFacts, toKind } from './address.ts'
import { restOptions } from './client.ts'
import { downAfter, TOKEN_REFUSED } from './close-codes.ts'
import { isFields } from './fields.ts'

/** What one connection to the gateway tells. Everything may come any number of times, `ended` once. */
export interface GatewayListener {
  /** A dispatch as it came over the wire. */
  dispatch(type: string, data: unknown): void
  /** A new session: nothing from before it will be told. */
  ready(connection: GatewayConnection): void
  /** The old session goes on; what was missed has been told again. */
  resumed(): void
  /** The connection broke; the client mends it by itself. */
  interrupted(): void
  /** The client will not come back by itself. */
  ended(down: ChannelDown): void
  /** A heartbeat was acknowledged. */
  proven(): void
}

export interface VisibleChannel extends ChannelFacts {
  readonly lastMessageId: string | null
  /** Ms since the epoch; absent where the platform does not tell. */
  readonly createdAt?: number
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
  readonly apiRoot: string | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
}

const CONNECT_WITHIN_MS = 45_000
const CLOSE_WITHIN_MS = 3_000
/** What discord.js 14 writes where it hears an acknowledgement; it has no event for it. */
const ACKNOWLEDGED = /Heartbeat acknowledged/

/**
 * Connects once and resolves when the session is ready. From then on discord.js heartbeats, reconnects and resumes.
 * @throws ChannelDown, permanent where only a person can mend the cause
 */
export function connectGateway(settings: GatewaySettings, listener: GatewayListener): Promise<GatewayConnection> {
  const { token, apiRoot, clock, signal } = settings
  const client = createGatewayClient(apiRoot)
  const connection = connectionOf(client, clock)
  return new Promise((resolve, reject) => {
    let settled = false
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
    const onAbort = (): void => fail(new ChannelDown('stopped', { permanent: false }))
    const cancel = clock.after(CONNECT_WITHIN_MS, () =>
      fail(
        new ChannelDown(`Discord's gateway did not answer within ${CONNECT_WITHIN_MS / 1000} s`, { permanent: false }),
      ),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    listen(client, { ...listener, ended: fail })
    client.on(Events.ShardReady, () => {
      listener.ready(connection)
      settle(() => resolve(connection))
    })
    client.login(token).catch((thrown: unknown) => fail(downFrom(thrown)))
  })
}

function createGatewayClient(apiRoot: string | undefined): Client {
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    // Without it the client drops what is said in direct chats it has not seen yet.
    partials: [Partials.Channel],
    rest: restOptions(apiRoot),
    // Dispatches are read as they come; the client need only remember guilds and channels.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      GuildMemberManager: { maxSize: 50, keepOverLimit: (member) => member.id === member.client.user.id },
      UserManager: { maxSize: 50, keepOverLimit: (user) => user.id === user.client.user.id },
      ThreadMemberManager: 0,
      ReactionManager: 0,
      PresenceManager: 0,
      VoiceStateManager: 0,
    }),
  })
  // Interactions are read as they come. The client's own reading throws at one it does not know, which ends the process.
  const actions: unknown = Reflect.get(client, 'actions')
  if (isFields(actions)) Reflect.set(actions, 'InteractionCreate', { handle: () => {} })
  return client
}

function listen(client: Client, listener: GatewayListener): void {
  client.on(Events.Raw, ({ t, d }: { t?: unknown; d?: unknown }) => {
    if (typeof t === 'string') listener.dispatch(t, d)
  })
  client.on(Events.ShardResume, () => listener.resumed())
  client.on(Events.ShardReconnecting, () => listener.interrupted())
  client.on(Events.ShardDisconnect, ({ code }) => listener.ended(downAfter(code)))
  client.on(Events.Debug, (line) => {
    if (ACKNOWLEDGED.test(line)) listener.proven()
  })
  // What breaks a connection is told by its end; without listeners these would end the process.
  client.on(Events.ShardError, () => {})
  client.on(Events.Error, () => {})
}

function connectionOf(client: Client, clock: Clock): GatewayConnection {
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    client.removeAllListeners()
    client.on(Events.ShardError, () => {})
    client.on(Events.Error, () => {})
    await client.destroy().catch(() => {})
    // A shard that was about to reconnect would do so after its end: it now waits for its session for ever.
    for (const shard of client.ws.shards.values()) Reflect.set(shard, 'sessionInfo', new Promise(() => {}))
  }
  return {
    channel: (id) => visible(client.channels.cache.get(id)),
    channels: () => client.channels.cache.map((channel) => visible(channel)).filter((channel) => channel !== undefined),
    close: () => (closing ??= within(clock, CLOSE_WITHIN_MS, close())),
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
  const createdAt: unknown = Reflect.get(channel, 'createdTimestamp')
  const [guildId, parentId] = [text('guildId'), text('parentId')]
  return {
    id,
    kind,
    lastMessageId: text('lastMessageId') ?? null,
    ...(typeof createdAt === 'number' ? { createdAt } : {}),
    ...(guildId === undefined ? {} : { guildId }),
    ...(kind === 'thread' && parentId !== undefined ? { parentId } : {}),
  }
}

function downFrom(thrown: unknown): ChannelDown {
  const cause = toError(thrown)
  if ('code' in cause && cause.code === 'TokenInvalid') return new ChannelDown(TOKEN_REFUSED, { permanent: true })
  return new ChannelDown(`Discord's gateway cannot be reached: ${cause.message}`, { permanent: false })
}

/** Resolves with the work or after `ms`, whichever comes first. */
function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    void work.finally(() => {
      cancel()
      resolve()
    })
  })
}
