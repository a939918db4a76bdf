import { homedir } from 'node:os'
import { DOORS } from '../core/doors.ts'
import { readJson } from '../core/read-json.ts'
import { fields, isFolder, list, type PeerFolder, type Row, words } from './peer-folder.ts'
import { modelsIn, type PeerModels, takeModels } from './peer-models.ts'
import { addressOf, isGroupId, SHARED_CHANNELS, type SharedChannel, sharedChannel } from './peer-places.ts'
import { everyAsCron, type FoundSecret, quoted, type SetupDraft, shownText } from './setup-draft.ts'

/** The file of settings, by the names that the program had; each is JSON5. */
const SETTINGS = ['openclaw.json', 'moltbot.json', 'moldbot.json', 'clawdbot.json']
const DATABASE = 'state/openclaw.sqlite'
/** The settings of an account that are secrets, by our names; the second name is theirs. */
const SECRETS: Readonly<Record<SharedChannel, readonly (readonly [ours: string, theirs: string])[]>> = {
  telegram: [['token', 'botToken']],
  discord: [['token', 'token']],
  slack: [
    ['botToken', 'botToken'],
    ['appToken', 'appToken'],
  ],
}
/** Matches the settings that hold a secret, or say where one is. */
const IS_SECRET = /token|secret/i
/** The variables that stand for the secrets of the default account. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...{ 'telegram.token': 'TELEGRAM_BOT_TOKEN', 'discord.token': 'DISCORD_BOT_TOKEN' },
  ...{ 'slack.botToken': 'SLACK_BOT_TOKEN', 'slack.appToken': 'SLACK_APP_TOKEN' },
}

type Fields = Readonly<Record<string, unknown>>

interface Source {
  readonly folder: PeerFolder
  readonly settings: Fields
  /** The name of the file of settings. */
  readonly file: string
  readonly variables: ReadonlyMap<string, string>
}

/** Returns the names of the folder below the home of a user, the newest first. */
export const OPENCLAW_FOLDERS = ['.openclaw', '.clawdbot', '.moltbot', '.moldbot']

/** Reads the folder of OpenClaw, of any age: it was called Clawdbot and Moltbot before. */
export async function readOpenclaw(folder: PeerFolder, draft: SetupDraft): Promise<void> {
  const source = await sourceOf(folder)
  if (source === undefined) {
    draft.left(`${folder.path} has no ${SETTINGS[0]}; name the folder that has it, such as ~/.openclaw.`)
    return
  }
  for (const channel of SHARED_CHANNELS) await takeChannel(source, channel, draft)
  sayOtherChannels(source, draft)
  takeOwners(source, draft)
  await takeAgents(source, draft)
  takeBindings(source, draft)
  await takeSchedules(source, draft)
  sayOthers(source, draft)
}

async function sourceOf(folder: PeerFolder): Promise<Source | undefined> {
  for (const file of SETTINGS) {
    const found = await folder.json(file)
    if (found === undefined) continue
    const settings = fields(found)
    const env = fields(settings.env)
    const inline = Object.entries({ ...env, ...fields(env.vars) }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    )
    return { folder, settings, file, variables: new Map([...inline, ...(await folder.variables('.env'))]) }
  }
  return undefined
}

/** Before 2026 each platform was a block of its own beside `channels`. */
function blockOf({ settings }: Source, channel: string): Fields {
  return { ...fields(settings[channel]), ...fields(fields(settings.channels)[channel]) }
}

async function takeChannel(source: Source, channel: SharedChannel, draft: SetupDraft): Promise<void> {
  const block = blockOf(source, channel)
  const named = Object.entries(fields(block.accounts))
  // The secrets beside the accounts are those of the default one, and of no other.
  const isListed = named.some(([name]) => name === 'default')
  const accounts = isListed ? named : [['default', {}] as const, ...named]
  const shared = Object.fromEntries(Object.entries(block).filter(([key]) => !IS_SECRET.test(key) && key !== 'accounts'))
  for (const [name, own] of accounts) {
    const account: Fields = { ...(name === 'default' ? block : shared), ...fields(own) }
    const secrets = accountSecrets(source, { channel, name, account })
    if (Object.keys(secrets).length === 0) continue
    const what = `${draft.title(channel)} account ${shownText(name)}`
    if (Object.keys(secrets).length < SECRETS[channel].length) {
      draft.left(`${what}: a token is missing or cannot be read; give it to parley init.`)
      continue
    }
    if (block.enabled === false || account.enabled === false) {
      draft.left(`${what}: it is switched off there; add it under channels.${channel}.accounts to use it.`)
      continue
    }
    draft.account(channel, name, secrets)
    await takePeople(source, { channel, name, account }, draft)
    takeGroups(source, { channel, name, account }, draft)
  }
}

interface Account {
  readonly channel: SharedChannel
  readonly name: string
  readonly account: Fields
}

function accountSecrets(source: Source, { channel, name, account }: Account): Readonly<Record<string, FoundSecret>> {
  const at = `${source.file} (channels.${channel})`
  const found = SECRETS[channel].flatMap(([ours, theirs]): (readonly [string, FoundSecret])[] => {
    const variable = name === 'default' ? VARIABLES[`${channel}.${ours}`] : undefined
    const path = theirs === 'botToken' ? words(account.tokenFile) : undefined
    const secret =
      secretIn(source, account[theirs], at) ??
      (path === undefined || /[{}]/.test(path) ? undefined : ({ kind: 'file', path } as const)) ??
      (variable === undefined ? undefined : heldBy(source, variable))
    return secret === undefined ? [] : [[ours, secret]]
  })
  return Object.fromEntries(found)
}

/** Returns a secret as it stands in the settings: itself, `${NAME}`, or an object that says where it is. */
function secretIn(source: Source, value: unknown, from: string): FoundSecret | undefined {
  if (typeof value === 'string' && value.trim() !== '') {
    const [, braced, bare] = /^\s*\$(?:\{(\w+)\}|([A-Z][A-Z0-9_]*))\s*$/.exec(value) ?? []
    const variable = braced ?? bare
    if (variable !== undefined) return heldBy(source, variable) ?? { kind: 'variable', variable }
    return { kind: 'value', value: value.trim(), from }
  }
  const { source: kind, id } = fields(value)
  if (kind === 'env' && typeof id === 'string' && /^\w+$/.test(id)) {
    return heldBy(source, id) ?? { kind: 'variable', variable: id }
  }
  return undefined
}

/** Returns the value of a variable that a file of the program sets. */
function heldBy({ variables, file }: Source, variable: string): FoundSecret | undefined {
  const value = variables.get(variable)
  return value ? { kind: 'value', value, from: `${file} or .env (${variable})`, variable } : undefined
}

async function takePeople(source: Source, { channel, name, account }: Account, draft: SetupDraft): Promise<void> {
  const dm = fields(account.dm)
  const policy = words(account.dmPolicy) ?? words(dm.policy) ?? 'pairing'
  const from = `allowFrom of ${draft.title(channel)} account ${shownText(name)}`
  if (policy === 'disabled' || dm.enabled === false) {
    draft.left(`${from}: direct chats are switched off there; here the owner may always write to the bot.`)
    draft.allow({ channel, account: name, ids: [], from })
    return
  }
  const written = [...list(account.allowFrom), ...list(dm.allowFrom)].flatMap((id) => words(id) ?? [])
  // An approval counts where people are paired, and nowhere else.
  const paired = policy === 'pairing' ? await pairedPeople(source, channel, name) : []
  const ids = [...written, ...paired, ...(policy === 'open' ? ['*'] : [])]
  draft.allow({ channel, account: name, ids, from })
}

/** Returns those who were approved: in the database since June 2026, in files before. */
async function pairedPeople({ folder }: Source, channel: string, account: string): Promise<readonly string[]> {
  const isDefault = account === 'default'
  const rows = await folder.rows(DATABASE, 'channel_pairing_allow_entries')
  const inRows = rows
    .filter(
      (row) => row.channel_key === channel && (row.account_id === account || (isDefault && row.account_id === '')),
    )
    .flatMap(({ entry }) => words(entry) ?? [])
  const files = [
    `${channel}-${account.toLowerCase()}-allowFrom.json`,
    ...(isDefault ? [`${channel}-allowFrom.json`] : []),
  ]
  const inFiles: string[] = []
  for (const file of files.filter((one) => /^[\w.-]+$/.test(one))) {
    const { allowFrom } = fields(await folder.jsonBeside(`credentials/${file}`))
    inFiles.push(...list(allowFrom).flatMap((id) => words(id) ?? []))
  }
  return [...inRows, ...inFiles].filter((id) => id !== '*')
}

interface Place {
  readonly space?: string
  readonly chat?: string
  readonly topic?: string
}

function takeGroups(source: Source, at: Account, draft: SetupDraft): void {
  const { channel, name, account } = at
  const defaults = fields(fields(source.settings.channels).defaults)
  const policy = words(account.groupPolicy) ?? words(defaults.groupPolicy) ?? 'allowlist'
  if (policy === 'disabled') return
  const usual = { groupAllowFrom: account.groupAllowFrom ?? account.allowFrom, groupPolicy: policy }
  const several = Object.keys(fields(blockOf(source, channel).accounts)).length > 1
  const own = several ? { account: name.toLowerCase() } : {}
  for (const [place, rules] of placesOf(channel, account))
    takeGroup(draft, { channel, own, place, rules: [...rules, usual] })
}

/** Yields each place that the settings name, with its settings and then those around it. */
function* placesOf(channel: SharedChannel, account: Fields): Generator<readonly [Place, readonly Fields[]]> {
  for (const [space, guild] of Object.entries(fields(channel === 'discord' ? account.guilds : undefined))) {
    const inside = Object.entries(fields(fields(guild).channels))
    for (const [chat, one] of inside) yield [{ space, chat }, [fields(one), fields(guild)]]
    if (inside.length === 0) yield [{ space }, [fields(guild)]]
  }
  const groups = { telegram: account.groups, slack: account.channels, discord: undefined }[channel]
  for (const [chat, group] of Object.entries(fields(groups))) {
    for (const [topic, one] of Object.entries(fields(fields(group).topics)))
      yield [{ chat, topic }, [fields(one), fields(group)]]
    yield [{ chat }, [fields(group)]]
  }
}

interface GroupAt {
  readonly channel: SharedChannel
  readonly own: { readonly account?: string }
  readonly place: Place
  /** The settings of the place, then those around it: the first that says something counts. */
  readonly rules: readonly Fields[]
}

function takeGroup(draft: SetupDraft, { channel, own, place, rules }: GroupAt): void {
  const ids = [place.space, place.chat].filter((id) => id !== undefined)
  const from = `${draft.title(channel)} ${shownText([...ids, ...(place.topic ?? [])].join('/'))}`
  if (ids.includes('*')) {
    draft.left(
      `${from}: every group is answered ("*"). Here a group is once the owner admits it, or by a rule of ` +
        `routing.access.groups: { match: { channel: ${channel} }, who: allowlist }.`,
    )
    return
  }
  const numbered = place.topic === undefined || /^\d{1,20}$/.test(place.topic)
  if (!numbered || !ids.every((id) => isGroupId(channel, id))) {
    draft.left(`${from}: a name, no id; write the id that /whoami says there under routing.access.groups.`)
    return
  }
  const first = (setting: string): unknown => rules.find((one) => one[setting] !== undefined)?.[setting]
  const off = first('enabled') === false || first('allow') === false
  const trigger = off ? 'never' : first('requireMention') === false ? 'always' : 'mention'
  draft.group({ channel, ...own, ...place, trigger, senders: off ? [] : sendersOf(channel, rules), from })
}

/** On Discord and Slack a channel that is listed is open to all in it unless its users or roles are named. */
function sendersOf(channel: SharedChannel, rules: readonly Fields[]): readonly string[] | 'everybody' {
  const first = (setting: string): unknown => rules.find((one) => one[setting] !== undefined)?.[setting]
  const value = channel === 'telegram' ? (first('allowFrom') ?? first('groupAllowFrom')) : first('users')
  const ids = list(value).flatMap((id) => words(id) ?? [])
  const unnamed = channel !== 'telegram' && ids.length === 0 && list(first('roles')).length === 0
  return first('groupPolicy') === 'open' || ids.includes('*') || unnamed ? 'everybody' : ids
}

function sayOtherChannels({ settings }: Source, draft: SetupDraft): void {
  const others = Object.entries(fields(settings.channels)).flatMap(([name, block]) =>
    sharedChannel(name) === undefined && name !== 'defaults' && fields(block).enabled !== false
      ? [shownText(name)]
      : [],
  )
  const older = ['whatsapp', 'signal', 'imessage'].filter((name) => settings[name] !== undefined)
  const all = [...new Set([...others, ...older])]
  if (all.length > 0)
    draft.left(`${all.join(', ')}: Parley has no such platform; it has ${SHARED_CHANNELS.join(', ')}.`)
}

function takeOwners({ settings }: Source, draft: SetupDraft): void {
  for (const entry of list(fields(settings.commands).ownerAllowFrom)) {
    const [, name, id] = /^(\w+):(.+)$/.exec(words(entry) ?? '') ?? []
    const channel = sharedChannel(name === 'tg' ? 'telegram' : name)
    if (channel === undefined || id === undefined || id === '*') {
      draft.left(`commands.ownerAllowFrom: ${shownText(String(entry))} names nobody here; who claims the bot owns it.`)
    } else if (draft.hasChannel(channel)) draft.owner(channel, id, 'commands.ownerAllowFrom')
  }
  for (const [name, ids] of Object.entries(fields(fields(settings.session).identityLinks)))
    draft.link(
      name,
      list(ids).flatMap((one) => {
        const [, platform, id] = /^(\w+):(.+)$/.exec(words(one) ?? '') ?? []
        const channel = sharedChannel(platform)
        return channel === undefined || id === undefined ? [] : [{ channel, id }]
      }),
    )
}

/** The agents; before 2026 there was one, under `agent`. */
function agentsOf({ settings }: Source): readonly Fields[] {
  const { defaults, list: listed } = fields(settings.agents)
  const usual = { ...fields(settings.agent), ...fields(defaults) }
  const agents = list(listed).map((one): Fields => ({ ...usual, ...fields(one), isListed: true }))
  const ordered = [...agents.filter((one) => one.default === true), ...agents.filter((one) => one.default !== true)]
  return ordered.length > 0 ? ordered : [{ id: 'main', ...usual }]
}

async function takeAgents(source: Source, draft: SetupDraft): Promise<void> {
  for (const one of agentsOf(source)) await takeAgent(source, one, draft)
  for (const pattern of list(fields(fields(source.settings.messages).groupChat).mentionPatterns)) {
    const word = words(pattern) ?? ''
    if (/^@?[\p{L}\p{N} _-]+$/u.test(word)) draft.wakeWord(word)
    else draft.left(`mentionPatterns: ${shownText(word)} is a pattern; write names under routing.wakeWords.`)
  }
}

async function takeAgent(source: Source, one: Fields, draft: SetupDraft): Promise<void> {
  const { settings, folder, file } = source
  const agent = words(one.id) ?? 'main'
  draft.agent(agent)
  const name = words({ ...fields(settings.identity), ...fields(one.identity) }.name)
  if (name !== undefined) draft.wakeWord(name)
  takeModels(draft, agent, { models: modelsIn(one.model), from: file, peer: await modelsOf(source, agent) })
  const workspace = await workspaceOf(folder, one, agent)
  if (workspace === undefined) return
  const texts = []
  for (const from of ['SOUL.md', 'IDENTITY.md']) texts.push({ from, text: (await workspace.text(from)) ?? '' })
  draft.instruct(agent, texts)
  await sayMemory(workspace, draft)
  for (const line of workspace.unread) draft.left(line)
}

async function workspaceOf(folder: PeerFolder, one: Fields, agent: string): Promise<PeerFolder | undefined> {
  const written = words(one.workspace)
  const named = written === undefined ? undefined : await folder.beside(written, homedir())
  if (named !== undefined) return named
  for (const name of [`workspace-${agent}`, 'workspace', 'workspace.default'])
    if (/^[\w.-]+$/.test(name) && (await isFolder(`${folder.path}/${name}`))) return folder.beside(name, homedir())
  return undefined
}

async function sayMemory(workspace: PeerFolder, draft: SetupDraft): Promise<void> {
  const found = []
  for (const file of ['USER.md', 'MEMORY.md']) if ((await workspace.text(file)) !== undefined) found.push(file)
  if ((await workspace.names('memory')).length > 0) found.push('memory/')
  if (found.length > 0)
    draft.left(
      `${found.join(', ')}: instructions are shown in every chat, groups too, so what was noted of a person is not put ` +
        'there. Say it in a direct chat with /remember (the agent needs tools: [time, memory]).',
    )
  const others = []
  for (const file of ['AGENTS.md', 'TOOLS.md', 'HEARTBEAT.md'])
    if ((await workspace.text(file)) !== undefined) others.push(file)
  if (others.length > 0)
    draft.left(
      `${others.join(', ')}: about tools that Parley has not; copy what fits into the file of agents[].prompt.`,
    )
}

async function modelsOf(source: Source, agent: string): Promise<PeerModels> {
  const providers = fields(fields(source.settings.models).providers)
  const main = /^[\w.-]+$/.test(agent) ? `agents/${agent}/agent/auth-profiles.json` : 'auth-profiles.json'
  const stored = fields(await source.folder.jsonBeside(main))
  const older = fields(await source.folder.jsonBeside('auth-profiles.json'))
  const profiles = Object.values({ ...fields(older.profiles), ...fields(stored.profiles) }).map(fields)
  const keyOf = (server: string): FoundSecret | undefined => {
    const value = profiles.find((one) => one.provider === server && one.type === 'api_key')?.key
    return secretIn(source, value, 'auth-profiles.json')
  }
  return {
    described(server) {
      const { baseUrl, api } = fields(providers[server])
      const address = words(baseUrl)
      if (address === undefined) return undefined
      return { baseUrl: address, kind: api === 'anthropic-messages' ? 'anthropic' : 'openai' }
    },
    key: (server, variables) =>
      secretIn(source, fields(providers[server]).apiKey, source.file) ??
      keyOf(server) ??
      variables.map((name) => heldBy(source, name)).find((one) => one !== undefined),
  }
}

function takeBindings({ settings }: Source, draft: SetupDraft): void {
  for (const binding of list(settings.bindings)) {
    const { agentId, match } = fields(binding)
    const agent = words(agentId) ?? ''
    const place = placeOfBinding(fields(match))
    if (place === undefined) {
      draft.left(
        `bindings: one for agent ${shownText(agent)} names a person or a name; write it under routing.dispatch.`,
      )
    } else if (draft.hasChannel(place.channel)) {
      draft.route(place, agent)
      draft.took(`A binding to agent ${shownText(agent)}, under routing.dispatch.`)
    }
  }
}

function placeOfBinding(match: Fields): (Readonly<Record<string, string>> & { readonly channel: string }) | undefined {
  const channel = sharedChannel(words(match.channel))
  const { kind, id } = fields(match.peer)
  const chat = kind === 'group' || kind === 'channel' ? words(id) : undefined
  const space = words(match.guildId)
  if (channel === undefined || (match.peer !== undefined && chat === undefined)) return undefined
  if (![chat, space].every((one) => one === undefined || isGroupId(channel, one))) return undefined
  const account = words(match.accountId)
  return {
    channel,
    ...(account === undefined || account === '*' ? {} : { account: account.toLowerCase() }),
    ...(space === undefined ? {} : { space }),
    ...(chat === undefined ? {} : { chat }),
  }
}

async function takeSchedules({ folder, settings }: Source, draft: SetupDraft): Promise<void> {
  const inFile = list(fields(await folder.jsonBeside('cron/jobs.json')).jobs).map(fields)
  const inRows = (await folder.rows(DATABASE, 'cron_jobs')).map(jobOf)
  const jobs = inRows.length > 0 ? inRows : inFile
  const zone = words(fields(fields(settings.agents).defaults).userTimezone)
  for (const job of jobs) await takeSchedule(draft, job, zone)
}

/** Since June 2026 a job is a row, with itself as JSON beside its columns. */
function jobOf(row: Row): Fields {
  try {
    const job = fields(readJson(String(row.job_json), DOORS.peer))
    return { name: row.name, ...job, ...(row.enabled === 0 ? { enabled: false } : {}) }
  } catch {
    return { name: row.name, enabled: false }
  }
}

async function takeSchedule(draft: SetupDraft, job: Fields, zone: string | undefined): Promise<void> {
  const name = words(job.name) ?? words(job.id) ?? 'job'
  const { expr, kind, everyMs, tz } = fields(job.schedule)
  const payload = fields(job.payload)
  const { mode, channel: platform, to, accountId, threadId } = { ...payload, ...fields(job.delivery) } as Fields
  const channel = sharedChannel(words(platform))
  const target = [words(to), words(threadId)].filter((one) => one !== undefined).join(':')
  const isSent = mode !== 'none' && mode !== 'webhook' && channel !== undefined && draft.hasChannel(channel)
  await draft.job({
    name,
    isOn: job.enabled !== false,
    isOnce: kind === 'at',
    cron: words(expr) ?? (kind === 'every' ? everyAsCron(Number(everyMs)) : undefined),
    timezone: words(tz) ?? zone,
    prompt: words(payload.message) ?? words(payload.text),
    deliverTo: isSent ? addressOf(channel, target, words(accountId)) : undefined,
    agent: words(job.agentId),
  })
}

function sayOthers({ settings, folder }: Source, draft: SetupDraft): void {
  draft.left(`Conversations: stop OpenClaw, set Parley up, and run parley import ${quoted(folder.path)}.`)
  const others = [
    ['hooks', 'webhooks', 'http.hooks'],
    ['mcp', 'tool servers', 'tools.mcp'],
    ['skills', 'skills', 'agents[].skills'],
    ['plugins', 'plugins', 'tools.own'],
  ] as const
  for (const [key, what, setting] of others)
    if (Object.keys(fields(settings[key])).length > 0)
      draft.left(`${key}: ${what} are not taken, since they run programs; look at ${setting} in reference.md.`)
}
