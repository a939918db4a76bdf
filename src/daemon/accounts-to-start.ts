import type { AccountSinks } from '../channels/account-sinks.ts'
import { type Accounts, type ConfiguredAccount, pluginOf } from '../channels/accounts.ts'
import { type AdapterServices, ChannelDown, type ChannelPlugin, type ChannelState } from '../channels/adapter.ts'
import type { HubAccount } from '../channels/hub.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import { type AccountId, type ChannelId, toAccountId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Store } from '../store/store.ts'

type Plugins = Readonly<Record<string, ChannelPlugin<never>>>

export interface AccountsDeps {
  readonly config: Config
  readonly plugins: Plugins
  readonly accounts: Accounts
  readonly sinks: Pick<AccountSinks, 'sink'>
  readonly clock: Clock
  /** Returns a number in [0, 1), for jitter. */
  random(this: void): number
  readonly logger: Logger
}

/**
 * Returns the configured accounts, each with the factory of its adapter for the first start; those without a secret
 * stay down.
 */
export function accountsToStart({ config, plugins, accounts, sinks, ...parts }: AccountsDeps): HubAccount[] {
  const { clock, random, logger } = parts
  const services = (channel: ChannelId): AdapterServices => ({
    ...{ clock, random },
    logger: logger.child({ subsystem: channel }),
  })
  const up = accounts.all.map((account) => ({
    ...account,
    create: () => createAdapter(account, plugins, services(account.channel)),
  }))
  return [...up, ...config.down.map(downAccount)].map((entry) => ({
    ...entry,
    sink: () => sinks.sink(entry.channel, entry.account),
  }))
}

/** Returns the place where an account keeps its state. */
export function stateIn({ read, write }: Store) {
  return (channel: ChannelId, account: AccountId): ChannelState => ({
    get: (key) => read.channelState.get(channel, account, key),
    set: (key, value) => write((tx) => tx.channelState.set(channel, account, key, value)),
    delete: (key) => write((tx) => tx.channelState.delete(channel, account, key)),
  })
}

function createAdapter({ channel, name, settings }: ConfiguredAccount, plugins: Plugins, services: AdapterServices) {
  // The channel's own schema parsed these settings; only the channel knows their type.
  return pluginOf(plugins, channel).create({ account: name, config: settings as never, services })
}

/** Returns an account whose secret is missing: it is listed as down with its reason, however often it is tried. */
function downAccount({ channel, account, reason }: Config['down'][number]) {
  const create = () => Promise.reject(new ChannelDown(reason, { permanent: true }))
  return { channel, account: toAccountId(account), create }
}
