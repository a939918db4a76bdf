import { createHash } from 'node:crypto'
import type { ChannelState } from '../../src/channels/adapter.ts'
import type { ChatCommand } from '../../src/core/command.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { TelegramClient } from './client.ts'

interface MenuPorts {
  readonly client: TelegramClient
  readonly state: ChannelState
  readonly signal: AbortSignal
}

/** Large menus are unreliable on the platform, which allows 100 (FIELD 2.1). */
const MAX_COMMANDS = 60
const STATE_KEY = 'commands'
const DEADLINE_MS = 15_000

/**
 * Registers the command menu unless this very menu is what was registered last. Names the platform cannot take are left
 * out: they still work when typed.
 * @throws ParleyError `unavailable` when the platform did not take it
 */
export async function registerMenu(
  { client, state, signal }: MenuPorts,
  commands: readonly Pick<ChatCommand, 'name' | 'description'>[],
): Promise<void> {
  const menu = commands
    .filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name))
    .slice(0, MAX_COMMANDS)
    .map(({ name, description }) => ({ command: name, description: (description || name).slice(0, 256) }))
  const hash = createHash('sha256').update(JSON.stringify(menu)).digest('hex')
  if ((await state.get(STATE_KEY)) === hash) return
  const outcome = await client.call('setMyCommands', { commands: menu }, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'answered') return state.set(STATE_KEY, hash)
  const why = outcome.kind === 'refused' ? `${outcome.code}: ${outcome.description}` : outcome.reason
  throw new ParleyError('unavailable', `Telegram did not take the command menu: ${why}`)
}
