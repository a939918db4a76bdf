import type { Address } from '../core/address.ts'
import { ParleyError } from '../core/errors.ts'
import { type AccountId, type ChannelId, toAccountId } from '../core/ids.ts'
import type { ChannelPlugin, CommonAccountConfig, TextFormat } from './adapter.ts'

/** An account as configured, its settings parsed by the schema of its channel. */
export interface ConfiguredAccount {
  readonly channel: ChannelId
  readonly name: string
  readonly account: AccountId
  readonly settings: CommonAccountConfig
}

/** The configured accounts, by the two questions others have about them. */
export interface Accounts {
  readonly all: readonly ConfiguredAccount[]
  limits(address: Address): CommonAccountConfig['limits']
  streams(address: Address): boolean
  /**
   * The pure text format of a channel, loaded whether or not the channel is up; that of one which was taken out of the
   * configuration marks nothing up.
   */
  format(channel: ChannelId): TextFormat
}

type Blocks = Readonly<Record<ChannelId, { readonly accounts: Readonly<Record<string, unknown>> }>>

/** Loads the text formats of the configured channels, and nothing of those that are not. */
export async function loadAccounts(
  blocks: Blocks,
  plugins: Readonly<Record<string, ChannelPlugin<never>>>,
): Promise<Accounts> {
  const all = Object.entries(blocks).flatMap(([channel, block]) => accountsOf(channel, block.accounts))
  const settings = new Map(all.map((account) => [keyOf(account), account.settings]))
  const channels = [...new Set(all.map(({ channel }) => channel))]
  const loaded = await Promise.all(channels.map(async (id) => [id, await pluginOf(plugins, id).loadFormat()] as const))
  const formats = new Map(loaded)
  return {
    all,
    limits: (address) => settings.get(keyOf(address))?.limits ?? NO_LIMITS,
    streams: (address) => settings.get(keyOf(address))?.streaming ?? false,
    format: (channel) => formats.get(channel) ?? PLAIN,
  }
}

/** For places whose account was taken out of the configuration: nothing of theirs can leave anyway. */
const NO_LIMITS: CommonAccountConfig['limits'] = { perSecond: 1, perChatPerSecond: 1, perGroupPerMinute: 1 }

/** Likewise: an answer is planned in the commit that ends its turn, which must end all the same. */
const PLAIN: TextFormat = {
  limit: 2_000,
  split: (text) => (text.match(/.{1,1000}/gsu) ?? []).map((part) => ({ text: part, plain: part, markup: 'plain' })),
}

/** The platform behind a channel id. Throws `config` for one that is not built in. */
export function pluginOf<Plugin>(plugins: Readonly<Record<string, Plugin>>, channel: ChannelId): Plugin {
  const plugin = plugins[channel]
  if (!plugin) throw new ParleyError('config', `channels.${channel}: this channel is not available yet.`)
  return plugin
}

function accountsOf(channel: ChannelId, accounts: Readonly<Record<string, unknown>>): ConfiguredAccount[] {
  return Object.entries(accounts).map(([name, settings]) => ({
    channel,
    name,
    account: toAccountId(name),
    // The channel's own schema parsed it; every one of them has the common part.
    settings: settings as CommonAccountConfig,
  }))
}

function keyOf({ channel, account }: { readonly channel: ChannelId; readonly account: AccountId }): string {
  return `${channel}@${account}`
}

/** Returns the rule for which addresses an account of these is connected. */
export function reachesIn({ all }: Accounts): (address: Pick<Address, 'channel' | 'account'>) => boolean {
  return ({ channel, account }) => all.some((one) => one.channel === channel && one.account === account)
}
