import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BotCommand } from './bot-process.ts'
import type { Name } from './row.ts'

export interface Contender {
  readonly name: Name
  /** How to start it against this server; `folder` is its own. */
  command(target: Target): BotCommand
}

export interface Target {
  readonly apiRoot: string
  readonly token: string
  readonly folder: string
}

export const parley: Contender = parleyWith({})

/** Parley with further platforms, the `channels` of its configuration beside Telegram, and with further settings. */
export function parleyWith(
  channels: Readonly<Record<string, unknown>>,
  settings: Readonly<Record<string, unknown>> = {},
): Contender {
  return {
    name: 'Parley',
    command(target) {
      const config = join(target.folder, 'parley.yaml')
      writeFileSync(config, JSON.stringify({ ...configOf(target, channels), ...settings }))
      return { args: [built('../main.js'), 'start', '--config', config], env: environment(target) }
    },
  }
}

export const grammy: Contender = library('grammY', 'bots/grammy.js')
export const telegraf: Contender = library('telegraf', 'bots/telegraf.js')
export const bareHttp: Contender = library('bare HTTP', 'bots/bare-http.js')

/** Where a Parley bot started in this folder keeps its database. */
export function databaseIn(folder: string): string {
  return join(folder, 'parley.db')
}

function library(name: Name, file: string): Contender {
  return { name, command: (target) => ({ args: [built(file)], env: environment(target) }) }
}

/** Everything is on as for a user; only the limits are out of the way. JSON is YAML. */
function configOf({ apiRoot, token, folder }: Target, more: Readonly<Record<string, unknown>>): object {
  const limits = { perSecond: 1e6, perChatPerSecond: 1e6, perGroupPerMinute: 1e6 }
  return {
    people: { operator: { role: 'owner', ids: ['telegram:1'] } },
    agents: [{ id: 'main', model: 'scripted/echo' }],
    channels: { telegram: { accounts: { default: { token, apiRoot, limits } } }, ...more },
    routing: { access: { direct: 'public' } },
    session: { publicTurns: { atOnce: 1000, perPerson: 1, waiting: 10_000 } },
    store: { url: `sqlite:${databaseIn(folder)}` },
    logging: { level: 'warn' },
  }
}

export function environment({ apiRoot, token, folder }: Target): Record<string, string> {
  const { PATH = '' } = process.env
  return { PATH, HOME: folder, XDG_STATE_HOME: folder, XDG_RUNTIME_DIR: folder, BOT_TOKEN: token, API_ROOT: apiRoot }
}

/** The bundle of the benches lies in a folder of the build. */
export function built(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
