import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnthropicServer } from '../anthropic/server.ts'
import type { OpenAiServer } from '../openai/server.ts'
import type { Cast, Character, Servers } from './cast.ts'
import { DIGEST_ID } from './tour-digest.ts'
import { SHOPPING } from './tour-tools.ts'

export interface Scenery extends Servers {
  readonly anthropic: AnthropicServer
  readonly audio: OpenAiServer
  readonly cast: Cast
  /** The arguments of Node that start the demo's tool server. */
  readonly toolServer: readonly string[]
}

/** Returns the secrets that the configuration takes from the environment. */
export function secretsOf({ discord, slack }: Servers, telegramToken: string): Readonly<Record<string, string>> {
  return {
    PARLEY_DEMO_TELEGRAM: telegramToken,
    PARLEY_DEMO_DISCORD: discord.token,
    PARLEY_DEMO_SLACK_BOT: slack.app.botToken,
    PARLEY_DEMO_SLACK_APP: slack.app.appToken,
    PARLEY_DEMO_KEY: 'rehearsal-key',
  }
}

/**
 * Writes an operator's configuration, except for the addresses that point the clients at the rehearsal. Returns its
 * path.
 */
export function writeConfig(folder: string, scenery: Scenery): string {
  const file = join(folder, 'parley.yaml')
  writeFileSync(file, yamlOf(scenery), { mode: 0o600 })
  return file
}

function yamlOf({ telegram, discord, slack, anthropic, audio, toolServer, cast: { people, places } }: Scenery): string {
  const ids = (who: Character): string => {
    return `["telegram:${who.ids.telegram}", "discord:${who.ids.discord}", "slack:${slack.app.teamId}/${who.ids.slack}"]`
  }
  return `people:
  ada: { role: owner, timezone: Europe/Berlin, ids: ${ids(people.ada)} }
  bo: { role: member, ids: ${ids(people.bo)} }
  cy: { role: member, ids: ${ids(people.cy)} }
agents:
  - { id: main, model: anthropic/rehearsal, tools: [time, memory, mcp.${SHOPPING}] }
tools:
  mcp:
    ${SHOPPING}: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(toolServer)}, inside: [show_list] }
models:
  anthropic: { apiKey: "\${env:PARLEY_DEMO_KEY}", baseUrl: "${anthropic.baseUrl}" }
audio: { apiKey: "\${env:PARLEY_DEMO_KEY}", baseUrl: "${audio.baseUrl}", transcribe: { model: whisper-1 } }
channels:
  telegram: { accounts: { default: { token: "\${env:PARLEY_DEMO_TELEGRAM}", apiRoot: "${telegram.apiRoot}" } } }
  discord: { accounts: { default: { token: "\${env:PARLEY_DEMO_DISCORD}", apiRoot: "${discord.apiRoot}" } } }
  slack:
    accounts:
      default:
        botToken: "\${env:PARLEY_DEMO_SLACK_BOT}"
        appToken: "\${env:PARLEY_DEMO_SLACK_APP}"
        apiRoot: "${slack.apiRoot}"
routing:
  access:
    direct: allowlist
    groups: [{ who: allowlist, trigger: mention }]
schedules:
  - id: ${DIGEST_ID}
    cron: "0 18 * * 1-5"
    timezone: Europe/Berlin
    prompt: "What is new in the workshop?"
    digestOf: "discord:channel:${places.workshop.chat}"
    deliverTo: "telegram:group:${places.garden.chat}/${places.garden.topic}"
    missed: skip
`
}
