import { Client, GatewayIntentBits, Options, Partials, SimpleShardingStrategy } from 'discord.js'
import { toError } from '../../../src/core/errors.ts'
import { isFields } from '../../shared/fields.ts'
import { restOptions } from './client.ts'

/** The client library would do this by itself, and is told to leave it to us. */
export interface ClientGuard {
  /** It wants to begin a second session. The platform limits them, so that only the keeper of the connection begins one. */
  wantsSession(): void
  /** Its reading of the wire threw: the connection is good for nothing. */
  broke(error: Error): void
  /** True once the connection is being closed: from then on it does nothing more by itself. */
  isOver(): boolean
  /** One dispatch could not be read by it. We read dispatches ourselves, so the session goes on. */
  unreadable(): void
}

/** Creates a client that begins one session, remembers guilds and channels only, and throws at nobody. */
export function createGatewayClient(apiRoot: string | undefined, guard: ClientGuard): Client {
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
    ws: {
      buildIdentifyThrottler: () => oneSession(guard),
      buildStrategy: (manager) => new GuardedStrategy(manager, guard),
    },
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
  guardHandlers(client, guard)
  // Interactions are read as they come. The client's own reading throws at one it does not know.
  const actions: unknown = Reflect.get(client, 'actions')
  if (isFields(actions)) Reflect.set(actions, 'InteractionCreate', { handle: () => {} })
  return client
}

function oneSession({ wantsSession }: ClientGuard) {
  let begun = false
  return {
    waitForIdentify(_: number, signal: AbortSignal): Promise<void> {
      if (!begun) {
        begun = true
        return Promise.resolve()
      }
      wantsSession()
      // The library takes a rejection after the end of the connection for "no longer wanted".
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true })
      })
    },
  }
}

/** Where the library awaits nothing that it calls: what these throw would end the process. */
const UNHELD = ['onMessage', 'onClose', 'internalConnect', 'heartbeat', 'destroy'] as const

type Manager = ConstructorParameters<typeof SimpleShardingStrategy>[0]

/** The library's own way to run a shard, with one guard around all that comes in; what is closed stays closed. */
class GuardedStrategy extends SimpleShardingStrategy {
  readonly #guard: ClientGuard

  constructor(manager: Manager, guard: ClientGuard) {
    super(manager)
    this.#guard = guard
  }

  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds)
    const shards: unknown = Reflect.get(this, 'shards')
    if (shards instanceof Map) for (const shard of shards.values()) watchShard(shard, this.#guard)
  }
}

function watchShard(shard: object, { isOver, broke }: ClientGuard): void {
  let destroyed = false
  // What waited for an event takes the end for trouble: it would close once more, and then connect again.
  const mayRun = (name: string): boolean => !isOver() || (name === 'destroy' && !destroyed)
  for (const name of UNHELD) {
    const original: unknown = Reflect.get(shard, name)
    if (typeof original !== 'function') throw new TypeError(`This version of discord.js has no ${name}.`)
    const guarded = async (...args: unknown[]): Promise<void> => {
      if (!mayRun(name)) return
      if (name === 'destroy') destroyed = isOver()
      try {
        await original.apply(shard, args)
      } catch (error) {
        broke(toError(error))
      }
    }
    Reflect.set(shard, name, guarded)
  }
}

/** Also for packets that the library keeps back and handles later, outside of any call. */
function guardHandlers(client: Client, { unreadable }: ClientGuard): void {
  const original: unknown = Reflect.get(client.ws, 'handlePacket')
  if (typeof original !== 'function') throw new TypeError('This version of discord.js has no handlePacket.')
  const guarded = (...args: unknown[]): unknown => {
    try {
      return original.apply(client.ws, args)
    } catch {
      unreadable()
      return false
    }
  }
  Reflect.set(client.ws, 'handlePacket', guarded)
}
