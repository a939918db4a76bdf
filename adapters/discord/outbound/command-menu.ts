import { createHash } from 'node:crypto'
import type { ChannelState } from '../../../src/channels/adapter.ts'
import type { MenuCommand } from '../../../src/channels/capabilities.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { isSnowflake } from '../address.ts'
import { type Call, type DiscordClient, reasonOf } from '../connection/client.ts'

interface MenuPorts {
  readonly client: DiscordClient
  readonly state: ChannelState
  readonly signal: AbortSignal
  readonly botId: string
}

const STATE_KEY = 'menu'
const DEADLINE_MS = 15_000
const MAX_COMMANDS = 100
const NAME = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u
const MOST_DESCRIPTION = 100
const TEXT_OPTION = 3
/** In guilds and in the direct chat with the bot; installed into guilds. */
const EVERYWHERE = { contexts: [0, 1], integration_types: [0] } as const

/**
 * Registers the commands with the platform as slash commands, all at once, unless these very ones are what was
 * registered last: a registration counts against a daily limit. Names the platform cannot take still work when typed.
 * @throws ParleyError `unavailable` when the platform did not take them
 */
export async function registerMenu(ports: MenuPorts, commands: readonly MenuCommand[]): Promise<void> {
  const { state, botId } = ports
  const body = commands
    .filter(({ name }) => NAME.test(name))
    .slice(0, MAX_COMMANDS)
    .map(entryOf)
  const hash = createHash('sha256')
    .update(JSON.stringify([botId, body]))
    .digest('hex')
  if ((await state.get(STATE_KEY)) === hash) return
  const application = await call(ports, { verb: 'GET', path: '/applications/@me' })
  const id = isFields(application) ? application.id : undefined
  if (!isSnowflake(id)) throw new ParleyError('unavailable', 'Discord does not say which application this bot is')
  const path = `/applications/${id}/commands` as const
  const there = await call(ports, { verb: 'GET', path })
  // A new store knows nothing of what the platform has, and each registration counts.
  if (formOf(there) !== formOf(body)) await call(ports, { verb: 'PUT', path, body })
  await state.set(STATE_KEY, hash)
}

/** Returns the fields of commands that are set here, in one form: the platform adds others, and leaves out `false`. */
function formOf(commands: unknown): string {
  const ours = listOf(commands).map(({ type, name, description, options, contexts, integration_types: types }) => [
    ...[name, type, description, numbersIn(contexts), numbersIn(types)],
    listOf(options).map((one) => [one.type, one.name, one.description, one.required ?? false]),
  ])
  return JSON.stringify(ours.map((one) => JSON.stringify(one)).sort())
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

function numbersIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? [...value].sort() : []
}

function entryOf({ name, description, args }: MenuCommand): object {
  const option = { type: TEXT_OPTION, name: 'input', description: shortened(args ?? ''), required: false }
  return {
    type: 1,
    name,
    description: shortened(description || name),
    ...(args === undefined ? {} : { options: [option] }),
    ...EVERYWHERE,
  }
}

function shortened(text: string): string {
  return text.length > MOST_DESCRIPTION ? `${text.slice(0, MOST_DESCRIPTION - 1)}…` : text
}

async function call({ client, signal }: MenuPorts, request: Call): Promise<unknown> {
  const outcome = await client.call(request, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'answered') return outcome.result
  const why = outcome.kind === 'refused' ? reasonOf(outcome) : outcome.reason
  throw new ParleyError('unavailable', `Discord did not take the commands: ${why}`)
}
