import { homedir } from 'node:os'
import { basename } from 'node:path'
import { DOORS } from '../core/doors.ts'
import { readJson } from '../core/read-json.ts'
import { fields, isFolder, list, type PeerFields, type PeerFolder, type PeerSource, words } from './peer-folder.ts'
import { modelsIn, type PeerModels, takeModels } from './peer-models.ts'
import { addressOf, isGroupId, SHARED_CHANNELS, type SharedChannel, sharedChannel } from './peer-places.ts'
import { everyAsCron, type FoundSecret, heldBy, quoted, type SetupDraft, secretIn, shownText } from './setup-draft.ts'

/** The file of settings, by the names that the program had; each is JSON5. */
const SETTINGS = ['openclaw.json', 'moltbot.json', 'moldbot.json', 'clawdbot.json']
const DATABASE = 'state/openclaw.sqlite'
/** Matches the settings that hold a secret, or say where one is. */
const IS_SECRET = /token|secret/i
interface Source extends PeerSource {
  /** The name of the file of settings. */
  readonly file: string
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
function blockOf({ settings }: Source, channel: string): PeerFields {
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
    const account: PeerFields = { ...(name === 'default' ? block : shared), ...fields(own) }
    const isOn = block.enabled !== false && account.enabled !== false
    const at = { channel, name, account }
    const find = (setting: string, variable: string) => secretOf(source, at, [setting, variable])
    if (!draft.account(channel, name, { isOn, find })) continue
    await takePeople(source, at, draft)
    takeGroups(source, at, draft)
  }
}

interface Account {
  readonly channel: SharedChannel
  readonly name: string
  readonly account: PeerFields
}

/** Returns a secret of an account; the variable stands for that of the default one. */
function secretOf(
  { variables, file }: Source,
  { channel, name, account }: Account,
  [setting, variable]: readonly [setting: string, variable: string],
): FoundSecret | undefined {
  const theirs = channel === 'telegram' ? 'botToken' : setting
  const path = theirs === 'botToken' ? words(account.tokenFile) : undefined
  return (
    secretIn(variables, account[theirs], `${file} (channels.${channel})`) ??
    (path === undefined || /[{}]/.test(path) ? undefined : ({ kind: 'file', path } as const)) ??
    (name === 'default' ? heldBy(variables, variable, `${file} or .env`) : undefined)
  )
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
function* placesOf(channel: SharedChannel, account: PeerFields): Generator<readonly [Place, readonly PeerFields[]]> {
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
  readonly rules: readonly PeerFields[]
}

function takeGroup(draft: SetupDraft, { channel, own, place, rules }: GroupAt): void {
  const ids = [place.space, place.chat].filter((id) => id !== undefined)
  const from = `${draft.title(channel)} ${shownText([...ids, place.topic].filter((id) => id !== undefined).join('/'))}`
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
function sendersOf(channel: SharedChannel, rules: readonly PeerFields[]): readonly string[] | 'everybody' {
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
function agentsOf({ settings }: Source): readonly PeerFields[] {
  const { defaults, list: listed } = fields(settings.agents)
  const usual = { ...fields(settings.agent), ...fields(defaults) }
  const agents = list(listed).map((one): PeerFields => ({ ...usual, ...fields(one), isListed: true }))
  const ordered = [...agents.filter((one) => one.default === true), ...agents.filter((one) => one.default !== true)]
  return ordered.length > 0 ? ordered : [{ id: 'main', ...usual }]
}

async function takeAgents(source: Source, draft: SetupDraft): Promise<void> {
  const workspaces = new Map<string, PeerFolder>()
  for (const one of agentsOf(source)) {
    const workspace = await takeAgent(source, one, draft)
    if (workspace !== undefined) workspaces.set(workspace.path, workspace)
  }
  await sayWorkspaces([...workspaces.values()], draft)
  for (const pattern of list(fields(fields(source.settings.messages).groupChat).mentionPatterns)) {
    const word = words(pattern) ?? ''
    if (/^@?[\p{L}\p{N} _-]+$/u.test(word)) draft.wakeWord(word)
    else draft.left(`mentionPatterns: ${shownText(word)} is a pattern; write names under routing.wakeWords.`)
  }
}

/** Takes an agent, and returns its folder, which it may share with others. */
async function takeAgent(source: Source, one: PeerFields, draft: SetupDraft): Promise<PeerFolder | undefined> {
  const { settings, folder, file } = source
  const agent = words(one.id) ?? 'main'
  draft.agent(agent)
  const name = words({ ...fields(settings.identity), ...fields(one.identity) }.name)
  if (name !== undefined) draft.wakeWord(name)
  takeModels(draft, agent, { models: modelsIn(one.model), from: file, peer: await modelsOf(source, agent) })
  const workspace = await workspaceOf(folder, one, agent)
  if (workspace === undefined) return undefined
  const texts = []
  for (const from of ['SOUL.md', 'IDENTITY.md']) texts.push({ from, text: (await workspace.text(from)) ?? '' })
  draft.instruct(agent, texts)
  return workspace
}

async function workspaceOf(folder: PeerFolder, one: PeerFields, agent: string): Promise<PeerFolder | undefined> {
  const written = words(one.workspace)
  const named = written === undefined ? undefined : await folder.beside(written, homedir())
  if (named !== undefined) return named
  for (const name of [`workspace-${agent}`, 'workspace', 'workspace.default'])
    if (/^[\w.-]+$/.test(name) && (await isFolder(`${folder.path}/${name}`))) return folder.beside(name, homedir())
  return undefined
}

/** Says once what the folders of the agents have that is not taken. */
async function sayWorkspaces(workspaces: readonly PeerFolder[], draft: SetupDraft): Promise<void> {
  draft.leftNotes(await foundIn(workspaces, ['USER.md', 'MEMORY.md', 'memory/']))
  const others = await foundIn(workspaces, ['AGENTS.md', 'TOOLS.md', 'HEARTBEAT.md'])
  if (others.length > 0)
    draft.left(
      `${others.join(', ')}: about tools that Parley has not; copy what fits into the file of agents[].prompt.`,
    )
  const workflows = await foundIn(workspaces, ['workflows/'])
  if (workflows.length > 0)
    draft.left(`${workflows.join(', ')}: not taken, since workflows run programs; look at tools.own in reference.md.`)
  for (const line of workspaces.flatMap(({ unread }) => unread)) draft.left(line)
}

/** Returns those of the files and folders that the workspaces have; a folder counts if there is something in it. */
async function foundIn(workspaces: readonly PeerFolder[], names: readonly string[]): Promise<readonly string[]> {
  const isIn = async (workspace: PeerFolder, name: string): Promise<boolean> =>
    name.endsWith('/') ? (await workspace.names(name)).length > 0 : (await workspace.text(name)) !== undefined
  const found: string[] = []
  for (const workspace of workspaces)
    for (const name of names)
      if (await isIn(workspace, name)) found.push(workspaces.length > 1 ? `${basename(workspace.path)}/${name}` : name)
  return found
}

async function modelsOf(source: Source, agent: string): Promise<PeerModels> {
  const providers = fields(fields(source.settings.models).providers)
  const main = /^[\w.-]+$/.test(agent) ? `agents/${agent}/agent/auth-profiles.json` : 'auth-profiles.json'
  const stored = fields(await source.folder.jsonBeside(main))
  const older = fields(await source.folder.jsonBeside('auth-profiles.json'))
  const profiles = Object.values({ ...fields(older.profiles), ...fields(stored.profiles) }).map(fields)
  const keyOf = (server: string): FoundSecret | undefined => {
    const value = profiles.find((one) => one.provider === server && one.type === 'api_key')?.key
    return secretIn(source.variables, value, 'auth-profiles.json')
  }
  return {
    described(server) {
      const { baseUrl, api } = fields(providers[server])
      const address = words(baseUrl)
      if (address === undefined) return undefined
      return { baseUrl: address, kind: api === 'anthropic-messages' ? 'anthropic' : 'openai' }
    },
    key: (server, variables) =>
      secretIn(source.variables, fields(providers[server]).apiKey, source.file) ??
      keyOf(server) ??
      variables
        .map((name) => heldBy(source.variables, name, `${source.file} or .env`))
        .find((one) => one !== undefined),
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

function placeOfBinding(
  match: PeerFields,
): (Readonly<Record<string, string>> & { readonly channel: string }) | undefined {
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
function jobOf(row: PeerFields): PeerFields {
  try {
    const job = fields(readJson(String(row.job_json), DOORS.peer))
    return { name: row.name, ...job, ...(row.enabled === 0 ? { enabled: false } : {}) }
  } catch {
    return { name: row.name, enabled: false }
  }
}

async function takeSchedule(draft: SetupDraft, job: PeerFields, zone: string | undefined): Promise<void> {
  const name = words(job.name) ?? words(job.id) ?? 'job'
  const { expr, kind, everyMs, tz } = fields(job.schedule)
  const payload = fields(job.payload)
  const { mode, channel: platform, to, accountId, threadId } = { ...payload, ...fields(job.delivery) } as PeerFields
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

/** The keys of the settings that are read, or are about OpenClaw alone; `older` platforms are named by themselves. */
const READ: ReadonlySet<string> = new Set([
  ...['agent', 'agents', 'bindings', 'channels', 'commands', 'cron', 'env', 'hooks', 'identity', 'mcp', 'messages'],
  ...['meta', 'models', 'plugins', 'secrets', 'session', 'skills', 'wizard', 'whatsapp', 'signal', 'imessage'],
  ...SHARED_CHANNELS,
])

function sayOthers({ settings, folder }: Source, draft: SetupDraft): void {
  draft.left(`Conversations: stop OpenClaw, set Parley up, and run parley import ${quoted(folder.path)}.`)
  draft.leftPrograms(settings, {
    hooks: 'http.hooks',
    mcp: 'tools.mcp',
    skills: 'agents[].skills',
    plugins: 'tools.own',
  })
  const { token, password } = fields(fields(settings.gateway).auth)
  if (token !== undefined || password !== undefined)
    draft.left('gateway.auth: programs get tokens of their own here; make one with parley token create.')
  const unread = Object.keys(settings).filter((key) => !READ.has(key))
  if (unread.length > 0)
    draft.left(`${unread.map((key) => shownText(key)).join(', ')}: not read; reference.md has what can be set here.`)
}
