import { appendFileSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { discordAccountSchema } from '../../adapters/discord/config.ts'
import { catalogue } from '../../adapters/index.ts'
import { slackAccountSchema } from '../../adapters/slack/config.ts'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import type { Config, InboundHookSettings } from '../../src/config/config.ts'
import { traitsOf } from '../../src/config/schema.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { DeliverySettings } from '../../src/delivery/settings.ts'

/** What the test build reads: the configuration before channel settings are parsed and secrets wrapped. Plain JSON. */
export interface SetupFile {
  readonly config: Omit<Config, 'models' | 'channels'>
  readonly telegram: z.input<typeof telegramAccountSchema>
  /** Further platforms. */
  readonly others: OtherAccounts
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string }
  /** A server of the Chat Completions API, which is `chat` under `models`. */
  readonly chat?: { readonly apiKey: string; readonly baseUrl: string }
  /** Where the probe tools write a line at each execution. */
  readonly probeFile: string
  readonly socketPath: string
  readonly delivery: Partial<DeliverySettings>
  /** The hooks by which programs call in. */
  readonly inboundHooks: readonly InboundHookOf[]
}

export type InboundHookOf = Omit<InboundHookSettings, 'secret'> & { readonly secret: string }

/** The accounts beside the bot on Telegram, as a configuration file has them. */
export interface OtherAccounts {
  /** A second bot there. */
  readonly telegram?: z.input<typeof telegramAccountSchema>
  readonly discord?: z.input<typeof discordAccountSchema>
  readonly slack?: z.input<typeof slackAccountSchema>
}

/** One execution of a probe tool. */
export interface ProbeLine {
  readonly class: string
  readonly turnId: string
  readonly callId: string
}

export function readSetup(file: string): SetupFile {
  return JSON.parse(readFileSync(file, 'utf8')) as SetupFile
}

export function configOf({ config, inboundHooks, telegram, others, anthropic, chat }: SetupFile): Config {
  const { apiKey, baseUrl } = anthropic
  const hooks = inboundHooks.map(({ secret, ...hook }) => ({ ...hook, secret: new Secret(secret) }))
  const api = { host: '127.0.0.1', port: 0, hosts: [], origins: [] }
  return {
    ...config,
    // The patterns of ids among them are lost in JSON.
    routing: { ...config.routing, traits: traitsOf(catalogue) },
    ...(hooks.length > 0 ? { http: { ...api, ...config.http, hooks } } : {}),
    models: {
      anthropic: { kind: 'anthropic', apiKey: new Secret(apiKey), baseUrl },
      ...(chat && { chat: { kind: 'openai', apiKey: new Secret(chat.apiKey), baseUrl: chat.baseUrl } }),
    },
    channels: {
      telegram: {
        accounts: {
          default: telegramAccountSchema.parse(telegram),
          ...(others.telegram && { sage: telegramAccountSchema.parse(others.telegram) }),
        },
      },
      ...(others.discord && { discord: { accounts: { default: discordAccountSchema.parse(others.discord) } } }),
      ...(others.slack && { slack: { accounts: { default: slackAccountSchema.parse(others.slack) } } }),
    },
  }
}

/** Synchronous, so that an execution that happened is on record however the process ends. */
export function recordProbe(file: string, line: ProbeLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

export function readProbes(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ProbeLine)
}
