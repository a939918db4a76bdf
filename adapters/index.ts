import type { z } from 'zod'
import type { ChannelPlugin } from '../src/channels/adapter.ts'
import { type DiscordConfig, discordAccountSchema, discordTraits } from './discord/config.ts'
import { discordLookup } from './discord/lookup.ts'
import { type SlackConfig, slackAccountSchema, slackTraits } from './slack/config.ts'
import { slackLookup } from './slack/lookup.ts'
import { type TelegramConfig, telegramAccountSchema, telegramTraits } from './telegram/config.ts'
import { telegramLookup } from './telegram/lookup.ts'

/**
 * A platform as the daemon finds it: schema and traits are here at once, all that is heavier loads at its first use.
 */
interface CatalogueEntry<Config> extends ChannelPlugin<Config> {
  /** One block under `channels.<id>.accounts`. */
  readonly configSchema: z.ZodType<Config>
}

const telegram: CatalogueEntry<TelegramConfig> = {
  id: 'telegram',
  traits: telegramTraits,
  configSchema: telegramAccountSchema,
  lookup: telegramLookup,
  loadFormat: async () => (await import('./telegram/format.ts')).telegramFormat,
  loadSetup: async () => (await import('./telegram/setup.ts')).telegramSetup,
  create: async (settings) => {
    const { TelegramAdapter } = await import('./telegram/adapter.ts')
    return new TelegramAdapter(settings)
  },
}

const discord: CatalogueEntry<DiscordConfig> = {
  id: 'discord',
  traits: discordTraits,
  configSchema: discordAccountSchema,
  lookup: discordLookup,
  loadFormat: async () => (await import('./discord/format.ts')).discordFormat,
  loadSetup: async () => (await import('./discord/setup.ts')).discordSetup,
  create: async (settings) => {
    // Before the library of the gateway is loaded.
    const { proxySockets } = await import('./discord/connection/wire-watch.ts')
    proxySockets()
    const { DiscordAdapter } = await import('./discord/adapter.ts')
    return new DiscordAdapter(settings)
  },
}

const slack: CatalogueEntry<SlackConfig> = {
  id: 'slack',
  traits: slackTraits,
  configSchema: slackAccountSchema,
  lookup: slackLookup,
  loadFormat: async () => (await import('./slack/format.ts')).slackFormat,
  loadSetup: async () => (await import('./slack/setup.ts')).slackSetup,
  create: async (settings) => {
    const { SlackAdapter } = await import('./slack/adapter.ts')
    return new SlackAdapter(settings)
  },
}

/** Every platform there is. A new one is a folder beside the others and one line here. */
export const catalogue = { telegram, discord, slack } as const
