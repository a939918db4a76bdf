import { DOORS } from '../core/doors.ts'
import { readJson } from '../core/read-json.ts'
import { fields, list, type PeerFields, type PeerFolder, type PeerSource, words } from './peer-folder.ts'
import { type PeerModels, takeModels } from './peer-models.ts'
import { addressOf, isGroupId, SECRETS, SHARED_CHANNELS, type SharedChannel, sharedChannel } from './peer-places.ts'
import { everyAsCron, type FoundSecret, heldBy, type SetupDraft, secretIn, shownText } from './setup-draft.ts'

/** The name of the folder below the home of a user. */
export const HERMES_FOLDERS = ['.hermes']

interface Source extends PeerSource {
  /** The settings of its gateway to the platforms, in a file of their own before there was one for all. */
  readonly gateway: PeerFields
}

/** Reads the folder of Hermes Agent: `config.yaml` and `.env`, or in older versions `gateway.json` and `.env` alone. */
export async function readHermes(folder: PeerFolder, draft: SetupDraft): Promise<void> {
  const source: Source = {
    folder,
    settings: fields(await folder.yaml('config.yaml')),
    gateway: fields(await folder.jsonBeside('gateway.json')),
    variables: await folder.variables('.env'),
  }
  if (Object.keys(source.settings).length + source.variables.size === 0) {
    draft.left(`${folder.path} has no config.yaml and no .env; name the folder that has them, such as ~/.hermes.`)
    return
  }
  for (const channel of SHARED_CHANNELS) await takeChannel(source, channel, draft)
  draft.agent('main')
  await takeModel(source, draft)
  draft.instruct('main', [{ from: 'SOUL.md', text: (await folder.text('SOUL.md')) ?? '' }])
  await takeJobs(source, draft)
  await sayOthers(source, draft)
}

/** Returns what the settings say of a platform; they say it in several places, the last of which counts. */
function blockOf({ settings, gateway }: Source, channel: string): PeerFields {
  const places = [
    fields(gateway.platforms)[channel],
    fields(settings.platforms)[channel],
    fields(fields(settings.gateway).platforms)[channel],
    settings[channel],
  ].map(fields)
  return Object.assign({}, ...places.flatMap((one) => [fields(one.extra), one]))
}

/** Returns a setting of a platform: a variable goes before the files. */
function setting(source: Source, channel: string, name: string): unknown {
  const variable = `${channel}_${name}`.toUpperCase()
  return source.variables.get(variable) || blockOf(source, channel)[name]
}

function isTrue(value: unknown): boolean | undefined {
  const word = String(value ?? '')
    .trim()
    .toLowerCase()
  if (/^(?:true|1|yes|on)$/.test(word)) return true
  return /^(?:false|0|no|off)$/.test(word) ? false : undefined
}

/** Returns the ids of a list, which may be written as one text with commas, or as JSON in a text. */
function idsIn(value: unknown): readonly string[] {
  const text = words(value)
  if (text?.startsWith('[')) {
    try {
      return idsIn(readJson(text, DOORS.peer))
    } catch {
      return []
    }
  }
  const items = text === undefined ? list(value) : text.split(',')
  return items.flatMap((one) => words(one) ?? [])
}

async function takeChannel(source: Source, channel: SharedChannel, draft: SetupDraft): Promise<void> {
  const { variables } = source
  const block = blockOf(source, channel)
  const find = (setting: string, variable: string): FoundSecret | undefined => {
    const written = setting === 'appToken' ? block.app_token : (block.token ?? block.bot_token ?? block.api_key)
    return heldBy(variables, variable) ?? secretIn(variables, written, 'config.yaml')
  }
  const several = SECRETS[channel].map(([setting, variable]) => find(setting, variable))
  if (several.some((secret) => secret?.kind === 'value' && secret.value.includes(',')))
    draft.left(
      `${draft.title(channel)} account default: several tokens in one variable; give each to an account of ` +
        `channels.${channel}.accounts.`,
    )
  else if (draft.account(channel, 'default', { isOn: isTrue(block.enabled) !== false, find }))
    await takePeople(source, channel, draft)
}

async function takePeople(source: Source, channel: SharedChannel, draft: SetupDraft): Promise<void> {
  const { folder, variables } = source
  const written = [
    ...idsIn(setting(source, channel, 'allowed_users')),
    ...idsIn(setting(source, channel, 'allow_from')),
    ...idsIn(variables.get('GATEWAY_ALLOWED_USERS')),
  ]
  const open = [setting(source, channel, 'allow_all_users'), variables.get('GATEWAY_ALLOW_ALL_USERS')].some(isTrue)
  const paired: string[] = []
  for (const place of ['pairing', 'platforms/pairing'])
    paired.push(...Object.keys(fields(await folder.jsonBeside(`${place}/${channel}-approved.json`))))
  const from = `${channel.toUpperCase()}_ALLOWED_USERS`
  const ids = [...written, ...paired.filter((id) => id !== '*'), ...(open ? ['*'] : [])]
  draft.allow({ channel, account: 'default', ids, from })
  if (idsIn(setting(source, channel, 'allowed_roles')).length > 0)
    draft.left(`${channel.toUpperCase()}_ALLOWED_ROLES: Parley knows people, not roles; name them under people.`)
  takeGroups(source, channel, { draft, known: [...written, ...paired] })
}

function takeGroups(
  source: Source,
  channel: SharedChannel,
  { draft, known }: { readonly draft: SetupDraft; readonly known: readonly string[] },
): void {
  const of = (name: string): readonly string[] => idsIn(setting(source, channel, name))
  const kind = channel === 'telegram' ? 'chats' : 'channels'
  const [free, named, ignored] = [of(`free_response_${kind}`), of(`allowed_${kind}`), of(`ignored_${kind}`)]
  // Before the lists were two, an id of a chat stood among those of people.
  const others = [...of('group_allowed_users'), ...of('group_allow_from')]
  const open = [...of('group_allowed_chats'), ...others.filter((id) => id.startsWith('-'))]
  const senders = [...known, ...others.filter((id) => !id.startsWith('-'))]
  // On Telegram every message of somebody allowed is answered unless a mention is asked for.
  const always = isTrue(setting(source, channel, 'require_mention')) === false
  for (const chat of new Set([...ignored, ...open, ...free, ...named])) {
    const from = `${draft.title(channel)} ${shownText(chat)}`
    if (!isGroupId(channel, chat)) {
      draft.left(`${from}: a name, no id; write the id that /whoami says there under routing.access.groups.`)
      continue
    }
    const trigger = ignored.includes(chat) ? 'never' : always || free.includes(chat) ? 'always' : 'mention'
    draft.group({
      channel,
      chat,
      trigger,
      senders: open.includes(chat) || senders.includes('*') ? 'everybody' : senders,
      from,
    })
  }
  if (named.length === 0 && known.length > 0)
    draft.left(
      `${draft.title(channel)} groups: the people listed are answered in each. Here a group is once the owner admits ` +
        `it, or by a rule of routing.access.groups: { match: { channel: ${channel} }, who: allowlist }.`,
    )
}

async function takeModel(source: Source, draft: SetupDraft): Promise<void> {
  const { settings, variables } = source
  const block = typeof settings.model === 'string' ? { default: settings.model } : fields(settings.model)
  const model = words(block.default) ?? words(block.model) ?? words(variables.get('LLM_MODEL'))
  if (model === undefined) return
  const base = words(block.base_url) ?? words(variables.get('OPENAI_BASE_URL'))
  const provider = providerOf(source, { provider: words(block.provider) ?? 'auto', base, model })
  const peer = await modelsOf(source, { provider, base, key: block.api_key })
  const rest = list(settings.fallback_providers ?? settings.fallback_model).map(fields)
  const others = rest.flatMap((one) => {
    const [server, name] = [words(one.provider), words(one.model)]
    return server === undefined || name === undefined ? [] : [onServer(server, name)]
  })
  takeModels(draft, 'main', { models: [onServer(provider, model), ...others], from: 'config.yaml', peer })
}

/** The names of models begin with their maker; on the maker's own server they do not. */
function onServer(provider: string, model: string): string {
  return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`
}

interface Choice {
  readonly provider: string
  readonly base: string | undefined
  readonly model: string
}

function providerOf({ variables }: Source, { provider, base, model }: Choice): string {
  if (/^(?:custom|ollama|vllm|llamacpp)$/.test(provider)) return base === undefined ? provider : 'custom'
  if (provider !== 'auto') return provider
  if (base !== undefined && !base.includes('openrouter.ai')) return 'custom'
  const [maker = ''] = model.split('/')
  const own = variables.get(`${maker.toUpperCase()}_API_KEY`)
  return own && !variables.get('OPENROUTER_API_KEY') ? maker : 'openrouter'
}

async function modelsOf(
  source: Source,
  main: { readonly provider: string; readonly base: string | undefined; readonly key: unknown },
): Promise<PeerModels> {
  const { settings, folder, variables } = source
  const custom = list(settings.custom_providers).map(fields)
  const named = (server: string): PeerFields => ({
    ...custom.find((one) => one.name === server || `custom:${one.name}` === server),
    ...fields(fields(settings.providers)[server]),
    ...(server === main.provider && main.provider === 'custom' ? { base_url: main.base, api_key: main.key } : {}),
  })
  const pool = fields(fields(await folder.jsonBeside('auth.json')).credential_pool)
  return {
    described(server) {
      const { base_url: base, api_mode: mode } = named(server)
      const baseUrl = words(base)
      return baseUrl === undefined
        ? undefined
        : { baseUrl, kind: mode === 'anthropic_messages' ? 'anthropic' : 'openai' }
    },
    key(server, usual) {
      const { api_key: written, key_env: variable } = named(server)
      const stored = list(pool[server])
        .map(fields)
        .find((one) => one.auth_type === 'api_key')
      const own = server === main.provider ? main.key : undefined
      return (secretIn(variables, written ?? own, 'config.yaml') ??
        [words(variable), ...usual].map((name) => name && heldBy(variables, name)).find((one) => one) ??
        secretIn(variables, stored?.access_token, 'auth.json')) as FoundSecret | undefined
    },
  }
}

async function takeJobs(source: Source, draft: SetupDraft): Promise<void> {
  const { folder, settings, variables } = source
  const found = await folder.jsonBeside('cron/jobs.json')
  const timezone = words(settings.timezone) ?? words(variables.get('HERMES_TIMEZONE'))
  for (const job of list(Array.isArray(found) ? found : fields(found).jobs).map(fields)) {
    const { kind, expr, minutes } = fields(job.schedule)
    const text = words(job.schedule)
    // A script of the machine runs first: its text alone would do something else.
    const isText = words(job.script) === undefined && isTrue(job.no_agent) !== true
    await draft.job({
      name: words(job.name) ?? words(job.id) ?? 'job',
      isOn: job.enabled !== false && job.state !== 'paused' && job.state !== 'completed',
      isOnce: kind === 'once' || words(fields(job.repeat).times) !== undefined,
      cron: words(expr) ?? (kind === 'interval' ? everyAsCron(Number(minutes) * 60_000) : text),
      timezone,
      prompt: isText ? words(job.prompt) : undefined,
      deliverTo: placeOf(source, job, draft),
    })
  }
}

function placeOf(source: Source, job: PeerFields, draft: SetupDraft): string | undefined {
  const deliver = words(list(job.deliver)[0]) ?? 'local'
  const origin = fields(job.origin)
  const [name = '', ...rest] = deliver === 'origin' ? [String(origin.platform ?? '')] : deliver.split(':')
  const channel = sharedChannel(name)
  if (channel === undefined || !draft.hasChannel(channel)) return undefined
  const home = `${channel.toUpperCase()}_HOME_CHANNEL`
  const target = deliver === 'origin' ? [words(origin.chat_id), words(origin.thread_id)] : rest
  const chosen = target.some((one) => one) ? target : [words(source.variables.get(home))]
  return addressOf(channel, chosen.filter((one) => one !== undefined).join(':'))
}

async function sayOthers({ folder, settings }: Source, draft: SetupDraft): Promise<void> {
  const notes = []
  for (const file of ['MEMORY.md', 'USER.md']) if (await folder.text(`memories/${file}`)) notes.push(`memories/${file}`)
  draft.leftNotes(notes)
  for (const profile of await folder.names('profiles'))
    draft.left(`profiles/${shownText(profile)}: a set-up of its own; name its folder behind --from hermes.`)
  draft.left('Conversations: parley import does not read those of Hermes; it keeps them in its folder.')
  draft.leftPrograms(settings, { mcp_servers: 'tools.mcp', hooks: 'hooks' })
}
