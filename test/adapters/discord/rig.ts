import { DiscordAdapter } from '../../../adapters/discord/adapter.ts'
import { discordAccountSchema } from '../../../adapters/discord/config.ts'
import type { Address } from '../../../src/core/address.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import type { ApiChannel, ApiGuild, ApiUser } from '../../../src/rehearsal/discord/api-types.ts'
import type { DiscordServer, DiscordServerOptions } from '../../../src/rehearsal/discord/server.ts'
import { startDiscordServer } from '../../../src/rehearsal/discord/server.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'

export interface AdapterOptions {
  apiRoot?: string
  token?: string
  clock?: Clock
  logger?: Logger
}

/** The adapter with the real client libraries against `server`. Back-off is at its shortest here. */
export function adapterFor(
  server: Pick<DiscordServer, 'apiRoot' | 'token'>,
  options: AdapterOptions = {},
): DiscordAdapter {
  const { apiRoot = server.apiRoot, token = server.token, clock = systemClock, logger = silentLogger } = options
  const services = { clock, logger, random: () => 0.01 }
  return new DiscordAdapter({ account: 'default', config: discordAccountSchema.parse({ token, apiRoot }), services })
}

export interface Rig {
  readonly server: DiscordServer
  readonly adapter: DiscordAdapter
  readonly sink: RecordingSink
  readonly ada: ApiUser
  readonly guild: ApiGuild
  readonly channel: ApiChannel
  readonly signal: AbortSignal
  /** Starts the adapter; resolves once it is connected. */
  listen(): Promise<void>
  /** Another adapter of the same account, on what this one has stored. */
  successor(): { readonly adapter: DiscordAdapter; readonly sink: RecordingSink; start(): Promise<void> }
  close(): Promise<void>
}

/** A guild with one channel, and Ada in it. */
export async function openRig(options: AdapterOptions & { server?: DiscordServerOptions } = {}): Promise<Rig> {
  const server = await startDiscordServer(options.server)
  const ada = server.world.addUser({ username: 'ada', displayName: 'Ada' })
  const guild = server.world.addGuild({ name: 'Workshop' })
  const channel = server.world.addChannel({ guild, name: 'engines' })
  const adapters = [adapterFor(server, options)]
  const [adapter] = adapters
  if (adapter === undefined) throw new Error('there is an adapter')
  const sink = new RecordingSink()
  const abort = new AbortController()
  return {
    server,
    adapter,
    sink,
    ada,
    guild,
    channel,
    signal: abort.signal,
    listen: () => adapter.start(sink, abort.signal),
    successor() {
      const next = adapterFor(server, options)
      adapters.push(next)
      const nextSink = new RecordingSink(sink.stored)
      return { adapter: next, sink: nextSink, start: () => next.start(nextSink, abort.signal) }
    },
    async close() {
      await Promise.all(adapters.map((each) => each.stop()))
      await server.close()
    },
  }
}

/**
 * Asks for heartbeats and resolves once the client knows of some that they were acknowledged. No interval passes meanwhile,
 * so that no acknowledgement can be late.
 */
export async function heartbeats({ gateway, ledger }: DiscordServer): Promise<void> {
  for (let count = 0; count < 3; count++) {
    const mark = ledger.mark()
    gateway.askForHeartbeat()
    await ledger.nextGateway('heartbeat', { after: mark })
  }
}

export function addressOf(chatType: Address['chatType'], chat: string, more: Partial<Address> = {}): Address {
  return { channel: 'discord', account: toAccountId('default'), chatType, chat, ...more }
}
