import type { AdapterServices, ChannelSink } from '../../../src/channels/adapter.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import { DeafProbe } from '../../shared/deaf-probe.ts'
import { createGuard, type Guard } from '../../shared/guard.ts'
import type { DiscordConfig } from '../config.ts'
import { EventReceiver } from '../inbound/event-receiver.ts'
import { KnownNames } from '../inbound/known-names.ts'
import type { ChannelPositions, Seen } from '../inbound/positions.ts'
import { Unreceived } from '../inbound/unreceived.ts'
import type { DirectChannels } from '../outbound/direct-channels.ts'
import type { Interactions } from '../outbound/interactions.ts'
import type { DiscordClient } from './client.ts'
import { connectGateway } from './gateway.ts'
import { ConnectionKeeper, type KeeperPorts } from './keep-connected.ts'
import { askForSession, SessionsSpent } from './session-limit.ts'

export interface RunDeps {
  readonly abort: AbortController
  readonly sink: ChannelSink
  readonly positions: ChannelPositions
  readonly seen: Seen
  readonly botId: string
  readonly botName: string
  readonly account: AccountId
  readonly config: DiscordConfig
  readonly services: AdapterServices
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly interactions: Interactions
  commands(): ReadonlySet<string> | undefined
  /** A session was begun or resumed. */
  proven(): void
  /** Something arrived from the session. */
  received(): void
  down(detail: string): void
}

/** An account between one `start` and its `stop`. */
export interface AccountRun {
  readonly abort: AbortController
  readonly sink: ChannelSink
  readonly receiver: EventReceiver
  readonly keeper: ConnectionKeeper
}

/** Nothing is connected yet: `keeper.start` does that. */
export function createRun(deps: RunDeps): AccountRun {
  const { abort, sink, account, config, services } = deps
  const { clock, logger } = services
  const { signal } = abort
  const names = new KnownNames({ id: deps.botId, name: deps.botName })
  const guard = createGuard({ sink, logger, account })
  const receiver: EventReceiver = new EventReceiver({
    account,
    botId: deps.botId,
    client: deps.client,
    directs: deps.directs,
    interactions: deps.interactions,
    positions: deps.positions,
    seen: deps.seen,
    names,
    sink,
    clock,
    signal,
    random: () => services.random(),
    connection: () => keeper.connection,
    commands: () => deps.commands(),
    failed: (err, channel) =>
      logger.warn('A message could not be stored and will be tried again', { account, channel, err }),
  })
  const unreceived = new Unreceived({
    client: deps.client,
    positions: deps.positions,
    connection: () => keeper.connection,
  })
  const probe = new DeafProbe({
    clock,
    signal,
    looksWell: () => keeper.looksWell,
    probe: (asking) => unreceived.look(asking),
    deaf: () => keeper.giveUp(DEAF),
    // The next READY says so.
    receives: () => {},
  })
  const { token } = config
  const keeper: ConnectionKeeper = new ConnectionKeeper(
    {
      clock,
      random: () => services.random(),
      async connect(listener) {
        const information = await askForSession(deps.client, signal).catch((error: unknown) => {
          if (error instanceof SessionsSpent) sink.notifyOwners({ about: 'sessions', text: error.message })
          throw error
        })
        return connectGateway({ token, botId: deps.botId, information, clock, signal }, listener)
      },
      listener: listenerOf(deps, { receiver, probe, guard, names }),
      down: (detail) => deps.down(detail),
    },
    signal,
  )
  void probe.run()
  return { abort, sink, receiver, keeper }
}

interface Receivers {
  readonly receiver: EventReceiver
  readonly probe: DeafProbe
  readonly guard: Guard
  readonly names: KnownNames
}

/** Returns the listener that distributes the events of a connection. */
function listenerOf(deps: RunDeps, { receiver, probe, guard, names }: Receivers): KeeperPorts['listener'] {
  const { sink, services, account } = deps
  return {
    dispatch: (type, data) => {
      deps.received()
      receiver.received()
      if (type === 'MESSAGE_CREATE') probe.received()
      guard(wordOfType(type), () => {
        names.take(type, data)
        take(type, data, { receiver, sink })
      })
    },
    ready: (connection) => {
      deps.proven()
      receiver.ready(connection)
    },
    shown: (channels) => receiver.shown(channels),
    resumed: () => {
      deps.proven()
      receiver.resumed()
    },
    interrupted: () => receiver.interrupted(),
    acknowledged: () => receiver.seen(),
    odd: (what) => {
      if (what === 'too_long')
        services.logger.warn('A frame of the gateway is larger than is read of one, and is left out.', { account })
      sink.unknown(`gateway:${what}`)
    },
  }
}

const DEAF = 'Discord shows messages that its gateway did not tell; beginning a new session, and reading them back'

function take(type: string, data: unknown, { receiver, sink }: Pick<AccountRun, 'receiver' | 'sink'>): void {
  if (type === 'MESSAGE_CREATE') receiver.message(data)
  else if (type === 'MESSAGE_UPDATE') receiver.edit(data)
  else if (type === 'MESSAGE_DELETE' || type === 'MESSAGE_DELETE_BULK') receiver.delete(data)
  else if (type === 'INTERACTION_CREATE') receiver.interaction(data)
  else if (!QUIET.has(type)) sink.unknown(wordOfType(type))
}

/** Returns a dispatch's type as a word to count by. */
function wordOfType(type: string): string {
  return /^[A-Z_]{1,40}$/.test(type) ? type.toLowerCase() : 'other'
}

/** The connection itself handles these. */
const QUIET = new Set([
  'GUILD_CREATE',
  'GUILD_UPDATE',
  'GUILD_DELETE',
  'CHANNEL_CREATE',
  'CHANNEL_UPDATE',
  'CHANNEL_DELETE',
  'THREAD_CREATE',
  'THREAD_UPDATE',
  'THREAD_DELETE',
  'THREAD_LIST_SYNC',
  'GUILD_ROLE_CREATE',
  'GUILD_ROLE_UPDATE',
  'GUILD_ROLE_DELETE',
])
