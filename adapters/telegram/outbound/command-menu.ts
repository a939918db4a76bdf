import { createHash } from 'node:crypto'
import type { ChannelState } from '../../../src/channels/adapter.ts'
import type { MenuCommand } from '../../../src/channels/capabilities.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { isFields } from '../../shared/fields.ts'
import type { CallOptions, CallOutcome, TelegramClient } from '../connection/client.ts'

interface MenuPorts {
  readonly client: TelegramClient
  readonly state: ChannelState
  readonly signal: AbortSignal
}

interface Menus {
  /** The bot's id: menus belong to it, whatever token it has by now. */
  readonly bot: string
  readonly commands: readonly MenuCommand[]
  /** User ids. */
  readonly owners: readonly string[]
}

/** One menu of the platform's: who sees it, and what is in it; empty takes it away. */
interface Menu {
  readonly scope: { readonly type: 'default' } | { readonly type: 'chat'; readonly chat_id: number }
  readonly commands: readonly { readonly command: string; readonly description: string }[]
}

/** Large menus are unreliable on the platform, which allows 100. */
const MAX_COMMANDS = 60
const STATE_KEY = 'menus'
const DEADLINE_MS = 15_000

/**
 * Registers what differs from what was registered last: for everybody the commands for anyone, and all of them in the
 * owners' direct chats. Names the platform cannot take are left out: they still work when typed.
 * @throws ParleyError `unavailable` when the platform did not take a menu
 */
export async function registerMenus({ client, state, signal }: MenuPorts, of: Menus): Promise<void> {
  const registered = readRegistered(await state.get(STATE_KEY))
  for (const { scope, commands } of menusOf(of, Object.keys(registered))) {
    const key = keyOf(scope)
    const hash = commands.length === 0 ? undefined : hashOf(of.bot, commands)
    if (registered[key] === hash) continue
    const options = { deadlineMs: DEADLINE_MS, signal }
    const outcome = await change(client, { scope, commands }, options)
    // An owner the bot has no chat with yet: tried again at the next start.
    if (scope.type === 'chat' && outcome.kind === 'refused' && outcome.code === 400) continue
    if (outcome.kind !== 'answered')
      throw new ParleyError('unavailable', `Telegram did not take the command menu: ${reasonOf(outcome)}`)
    if (hash === undefined) delete registered[key]
    else registered[key] = hash
    await state.set(STATE_KEY, JSON.stringify(registered))
  }
}

/** The platform may have a menu that a new store knows nothing of: one is written where it differs. */
async function change(client: TelegramClient, { scope, commands }: Menu, options: CallOptions): Promise<CallOutcome> {
  if (commands.length === 0) return client.call('deleteMyCommands', { scope }, options)
  const there = await client.call('getMyCommands', { scope }, options)
  const isThere = there.kind === 'answered' && isSame(there.result, commands)
  return isThere ? there : client.call('setMyCommands', { scope, commands }, options)
}

function isSame(found: unknown, commands: Menu['commands']): boolean {
  if (!Array.isArray(found) || found.length !== commands.length) return false
  return commands.every(({ command, description }, at) => {
    const one: unknown = found[at]
    return isFields(one) && one.command === command && one.description === description
  })
}

/** `known`: keys of the menus registered before, so that those of former owners are taken away. */
function menusOf({ commands, owners }: Menus, known: readonly string[]): Menu[] {
  const open = entriesOf(commands.filter(({ who }) => who === 'anyone'))
  const all = entriesOf(commands)
  const chats = owners.filter((id) => /^\d{1,15}$/.test(id)).map(Number)
  const former = known.flatMap((key) => {
    const chat = Number(/^chat:(\d+)$/.exec(key)?.[1] ?? Number.NaN)
    return Number.isNaN(chat) || chats.includes(chat) ? [] : chat
  })
  return [
    { scope: { type: 'default' }, commands: open },
    ...chats.map((chat_id) => ({ scope: { type: 'chat', chat_id } as const, commands: all })),
    ...former.map((chat_id) => ({ scope: { type: 'chat', chat_id } as const, commands: [] })),
  ]
}

function entriesOf(commands: readonly MenuCommand[]): Menu['commands'] {
  return commands
    .filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name))
    .slice(0, MAX_COMMANDS)
    .map(({ name, description }) => ({ command: name, description: (description || name).slice(0, 256) }))
}

function keyOf(scope: Menu['scope']): string {
  return scope.type === 'chat' ? `chat:${scope.chat_id}` : scope.type
}

function hashOf(bot: string, commands: Menu['commands']): string {
  return createHash('sha256')
    .update(JSON.stringify([bot, commands]))
    .digest('hex')
}

function readRegistered(stored: string | undefined): Record<string, string> {
  const value: unknown = stored === undefined ? {} : JSON.parse(stored)
  const entries = isFields(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.flatMap(([key, hash]) => (typeof hash === 'string' ? [[key, hash]] : [])))
}

function reasonOf(outcome: Exclude<CallOutcome, { kind: 'answered' }>): string {
  return outcome.kind === 'refused' ? `${outcome.code}: ${outcome.description}` : outcome.reason
}
