import { homedir } from 'node:os'
import { join } from 'node:path'
import { DOORS } from '../core/doors.ts'
import { readJson } from '../core/read-json.ts'
import { fields, type PeerFields, type PeerFolder, type PeerSource, words } from './peer-folder.ts'
import { takeModels } from './peer-models.ts'
import { addressOf, isGroupId, SHARED_CHANNELS, type SharedChannel, sharedChannel } from './peer-places.ts'
import { everyAsCron, heldBy, type SetupDraft, shownText } from './setup-draft.ts'

/** The names of its checkout below the home of a user. */
export const NANOCLAW_FOLDERS = ['nanoclaw', 'nanoclaw-v2']

const [OLD, NEW] = ['store/messages.db', 'data/v2.db']
const SESSIONS = 'data/v2-sessions'
/** The databases of sessions that are looked through for tasks. */
const MOST_SESSIONS = 200
const PREFIXES: Readonly<Record<string, string>> = { tg: 'telegram', dc: 'discord' }

interface Source extends Pick<PeerSource, 'folder' | 'variables'> {
  readonly timezone: string | undefined
}

/**
 * Reads the checkout of NanoClaw: `.env` with the tokens, and what it knows of chats in `data/v2.db`, or before version
 * 2 in `store/messages.db`. Where both are there, the newer counts, and the older is said to be left.
 */
export async function readNanoclaw(folder: PeerFolder, draft: SetupDraft): Promise<void> {
  const variables = await folder.variables('.env')
  const source: Source = { folder, variables, timezone: words(variables.get('TZ')) }
  takeAccounts(source, draft)
  draft.agent('main')
  const name = words(variables.get('ASSISTANT_NAME'))
  if (name !== undefined) {
    draft.wakeWord(name)
    draft.took(`${shownText(name)}: a name that addresses the agent in groups.`)
  }
  takeModel(source, draft)
  const places = await folder.rows(NEW, 'messaging_groups')
  const older = await folder.rows(OLD, 'registered_groups')
  if (places.length > 0) await takeNewer(source, places, draft)
  else if (older.length > 0) await takeOlder(source, older, draft)
  if (places.length > 0 && older.length > 0)
    draft.left(`${OLD}: of the version before; what it had and ${NEW} has not is not taken.`)
  await sayInstructions(folder, draft)
  draft.left('Conversations: parley import does not read those of NanoClaw; it keeps them in its folder.')
}

function takeAccounts({ variables }: Source, draft: SetupDraft): void {
  const find = (_setting: string, variable: string) => heldBy(variables, variable)
  const isDeaf = Boolean(variables.get('SLACK_BOT_TOKEN') && !variables.get('SLACK_APP_TOKEN'))
  for (const channel of SHARED_CHANNELS)
    if (channel !== 'slack' || !isDeaf) draft.account(channel, 'default', { isOn: true, find })
  if (isDeaf)
    draft.left(
      'Slack account default: NanoClaw receives by webhook, Parley by a socket; make an app token (xapp-) with ' +
        'connections:write, and add both tokens with --token.',
    )
}

function takeModel(source: Source, draft: SetupDraft): void {
  const { variables } = source
  const key = variables.get('ANTHROPIC_API_KEY')
  const model = words(variables.get('ANTHROPIC_MODEL'))
  const baseUrl = words(variables.get('ANTHROPIC_BASE_URL'))
  if (variables.get('CLAUDE_CODE_OAUTH_TOKEN') || (!key && baseUrl === undefined))
    draft.left('The model: a login of Claude Code, or a vault, has no key that Parley could use; choose one here.')
  if (model === undefined) return
  const held = () => heldBy(variables, 'ANTHROPIC_API_KEY')
  const peer = { described: () => (baseUrl === undefined ? undefined : { baseUrl }), key: held }
  takeModels(draft, 'main', { models: [`anthropic/${model}`], from: '.env', peer })
}

interface Chat {
  readonly channel: SharedChannel
  readonly id: string
  readonly space?: string
}

/** Returns a chat by its key: `tg:-100…`, `dc:…`, since version 2 `telegram:…` or `discord:<guild>:<channel>`. */
function chatNamed(key: string): Chat | undefined {
  const [prefix = '', ...rest] = key.split(':')
  const channel = sharedChannel(PREFIXES[prefix] ?? prefix)
  const id = rest.at(-1)
  if (channel === undefined || id === undefined) return undefined
  const space = channel === 'discord' && rest.length > 1 ? rest[0] : undefined
  return { channel, id, ...(space === undefined || space === '@me' ? {} : { space }) }
}

async function takeNewer(source: Source, places: readonly PeerFields[], draft: SetupDraft): Promise<void> {
  const { folder } = source
  await takeRoles(folder, draft)
  const wirings = await folder.rows(NEW, 'messaging_group_agents')
  const agents = await folder.rows(NEW, 'agent_groups')
  if (agents.length > 1)
    draft.left(`agent_groups: ${agents.length} agents, of which one is made here; write the others under agents.`)
  for (const place of places) {
    const chat = chatNamed(String(place.platform_id))
    const wiring = wirings.find((one) => one.messaging_group_id === place.id)
    if (chat === undefined || wiring === undefined || place.is_group === 0) continue
    const isOpen = place.unknown_sender_policy === 'public' && wiring.sender_scope !== 'known'
    const always = wiring.engage_mode === 'pattern' && /^\.\*?$/.test(String(wiring.engage_pattern))
    takeChat(draft, { chat, name: words(place.name), always, senders: isOpen ? 'everybody' : [] })
  }
  await takeNewerTasks(source, draft)
}

async function takeRoles(folder: PeerFolder, draft: SetupDraft): Promise<void> {
  const roles = await folder.rows(NEW, 'user_roles')
  const members = await folder.rows(NEW, 'agent_group_members')
  for (const { user_id: user, role } of roles) {
    const person = chatNamed(String(user))
    if (role === 'owner' && person !== undefined && draft.hasChannel(person.channel))
      draft.owner(person.channel, person.id, 'user_roles')
  }
  const known = [...members, ...roles.filter(({ role }) => role !== 'owner')].flatMap(
    (one) => chatNamed(String(one.user_id)) ?? [],
  )
  for (const channel of new Set(known.map((one) => one.channel)))
    if (draft.hasChannel(channel)) {
      const ids = known.filter((one) => one.channel === channel).map(({ id }) => id)
      draft.allow({ channel, account: 'default', ids, from: `The members on ${draft.title(channel)}` })
    }
  if (roles.some(({ role }) => role === 'admin'))
    draft.left('user_roles: Parley knows owners and members; who was an admin is a member. role: owner gives them all.')
}

/** Before version 2 a file outside of the folder said who counts; without it everybody did. */
async function takeOlder(source: Source, groups: readonly PeerFields[], draft: SetupDraft): Promise<void> {
  const beside = await source.folder.beside(join(homedir(), '.config/nanoclaw'), homedir())
  const allowed = fields(await beside?.jsonBeside('sender-allowlist.json'))
  for (const group of groups) takeOlderChat(draft, group, allowed)
  for (const task of await source.folder.rows(OLD, 'scheduled_tasks')) await takeOlderTask(source, task, draft)
}

function takeOlderChat(draft: SetupDraft, group: PeerFields, allowed: PeerFields): void {
  const key = String(group.jid)
  const chat = chatNamed(key)
  const name = words(group.name)
  const what = shownText(name ?? key)
  if (chat === undefined) draft.left(`${what}: Parley has no such platform; it is left out.`)
  else if (chat.channel === 'telegram' && !chat.id.startsWith('-'))
    draft.left(`${what}: a direct chat; the owner is who claims the bot, and others are let in by /admit.`)
  else {
    const { allow } = fields(fields(allowed.chats)[key] ?? allowed.default)
    const senders = Array.isArray(allow) ? allow.flatMap((id) => words(id) ?? []) : ('everybody' as const)
    const always = group.requires_trigger === 0 || /^\.\*?$/.test(String(group.trigger_pattern))
    takeChat(draft, { chat, name, always, senders })
  }
}

interface KnownChat {
  readonly chat: Chat
  readonly name: string | undefined
  readonly always: boolean
  readonly senders: readonly string[] | 'everybody'
}

function takeChat(draft: SetupDraft, { chat, name, always, senders }: KnownChat): void {
  const { channel, id, space } = chat
  const from = `${draft.title(channel)} ${shownText(name ?? id)}`
  if (!draft.hasChannel(channel)) draft.left(`${from}: its platform has no token in these files; add it with --token.`)
  else if (!isGroupId(channel, id))
    draft.left(`${from}: no id; write the id that /whoami says under routing.access.groups.`)
  else {
    const place = { channel, chat: id, ...(space !== undefined && isGroupId(channel, space) ? { space } : {}) }
    draft.group({ ...place, trigger: always ? 'always' : 'mention', senders, from })
  }
}

async function takeOlderTask({ timezone }: Source, task: PeerFields, draft: SetupDraft): Promise<void> {
  const chat = chatNamed(String(task.chat_jid))
  const [value, type] = [words(task.schedule_value) ?? '', task.schedule_type]
  await draft.job({
    name: words(task.id) ?? 'task',
    isOn: task.status === 'active',
    isOnce: type === 'once' || type === 'at',
    cron: type === 'cron' ? value : everyAsCron(spanOf(value)),
    timezone,
    // A script of the machine decides first whether there is anything to do.
    prompt: words(task.script) === undefined ? words(task.prompt) : undefined,
    deliverTo: deliveryTo(chat, draft),
  })
}

/** Returns the ms of `3600000` or `2h`, NaN for any other text. */
function spanOf(value: string): number {
  const [, count = '', unit = 'ms'] = /^(\d+)\s*(ms|s|m|h|d)?$/.exec(value.trim()) ?? []
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  return count === '' ? Number.NaN : Number(count) * (units[unit] ?? Number.NaN)
}

/** Since version 2 a task is a message to come, in the database of its session. */
async function takeNewerTasks(source: Source, draft: SetupDraft): Promise<void> {
  const { folder, timezone } = source
  const sessions: string[] = []
  for (const group of await folder.names(SESSIONS))
    for (const session of await folder.names(`${SESSIONS}/${group}`)) sessions.push(`${SESSIONS}/${group}/${session}`)
  const seen = new Set<string>()
  for (const session of sessions.slice(0, MOST_SESSIONS))
    for (const task of await folder.rows(`${session}/inbound.db`, 'messages_in')) {
      const id = words(task.series_id) ?? words(task.id) ?? ''
      if (task.kind !== 'task' || task.status === 'completed' || task.status === 'failed' || seen.has(id)) continue
      seen.add(id)
      const content = contentOf(task)
      await draft.job({
        name: id,
        isOn: task.status !== 'paused',
        isOnce: words(task.recurrence) === undefined,
        cron: words(task.recurrence),
        timezone,
        prompt: words(content.script) === undefined ? words(content.prompt) : undefined,
        deliverTo: deliveryTo(chatNamed(String(task.platform_id)), draft),
      })
    }
  if (sessions.length > MOST_SESSIONS)
    draft.left(
      `${SESSIONS}: only ${MOST_SESSIONS} sessions were looked through for tasks; add the others under schedules.`,
    )
}

function contentOf({ content }: PeerFields): PeerFields {
  try {
    return fields(readJson(String(content), DOORS.peer))
  } catch {
    return {}
  }
}

function deliveryTo(chat: Chat | undefined, draft: SetupDraft): string | undefined {
  return chat !== undefined && draft.hasChannel(chat.channel) ? addressOf(chat.channel, chat.id) : undefined
}

/** Instructions stand in a file for each group: most of it says which tools there are, and none of them is here. */
async function sayInstructions(folder: PeerFolder, draft: SetupDraft): Promise<void> {
  const found: string[] = []
  for (const group of await folder.names('groups'))
    for (const file of ['CLAUDE.local.md', 'CLAUDE.md']) {
      const name = `groups/${group}/${file}`
      if (await folder.text(name)) found.push(name)
    }
  if (found.length > 0)
    draft.left(
      `${found
        .slice(0, 3)
        .map((name) => shownText(name))
        .join(', ')}${found.length > 3 ? ` and ${found.length - 3} more` : ''}: ` +
        'these describe tools that Parley has not, and hold what was noted; copy what fits into a file of ' +
        'agents[].prompt, and say what was noted with /remember.',
    )
}
