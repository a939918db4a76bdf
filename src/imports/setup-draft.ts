import type { Channels } from '../core/channel-traits.ts'
import { toAccountId, toAgentId } from '../core/ids.ts'
import { parseUrl } from '../core/parse-url.ts'
import type { PeerFile, PeerSecret, PeerSetup } from '../core/peer-setup.ts'
import { isPlaceholder } from '../core/placeholder-id.ts'
import { isShared, isWellFormedId } from '../core/platform-id.ts'
import { fields, type PeerFields, words } from './peer-folder.ts'
import { SECRETS, type SharedChannel } from './peer-places.ts'

/** The rules of Parley's own by which a set-up is read, so that what is taken fits them. */
export interface PeerRules {
  readonly channels: Channels
  /** The instructions of an agent that has none of its own. */
  readonly prompt: string
  /** Returns the value of a variable that is set where Parley runs. */
  variable(this: void, name: string): string | undefined
  /** Returns what is wrong with the times of a schedule. */
  checkTiming(
    this: void,
    timing: { readonly cron: string; readonly timezone: string },
  ): Promise<readonly { readonly message: string }[]>
}

/** A secret as the other program has it: in one of its files, by a variable that is set elsewhere, or in a file. */
export type FoundSecret =
  | { readonly kind: 'value'; readonly value: string; readonly from: string; readonly variable?: string }
  | { readonly kind: 'variable'; readonly variable: string }
  | { readonly kind: 'file'; readonly path: string }

/** Returns the value of a variable that a file of the other program sets. */
export function heldBy(
  variables: ReadonlyMap<string, string>,
  variable: string,
  file = '.env',
): FoundSecret | undefined {
  const value = variables.get(variable)
  return value ? { kind: 'value', value, from: `${file} (${variable})`, variable } : undefined
}

/** Returns a secret as it stands in settings: itself, `${NAME}` or `$NAME`, or an object that names the variable. */
export function secretIn(
  variables: ReadonlyMap<string, string>,
  value: unknown,
  from: string,
): FoundSecret | undefined {
  const { source, id } = fields(value)
  const text = source === 'env' ? `\${${words(id)}}` : words(value)
  if (text === undefined) return undefined
  const [, braced, bare] = /^\$(?:\{(\w+)\}|([A-Z][A-Z0-9_]*))$/.exec(text) ?? []
  const variable = braced ?? bare
  if (variable === undefined) return { kind: 'value', value: text, from }
  return heldBy(variables, variable) ?? { kind: 'variable', variable }
}

/** The people whom an account of the other program answers in direct chats. */
export interface AllowList {
  readonly channel: string
  readonly account: string
  readonly ids: readonly string[]
  readonly from: string
}

/** A place with several people in which the other program answers. */
export interface PeerGroup {
  readonly channel: string
  readonly account?: string
  readonly space?: string
  readonly chat?: string
  readonly topic?: string
  readonly trigger: 'mention' | 'always' | 'never'
  /** The ids of those who are answered there; everybody who is there. */
  readonly senders: readonly string[] | 'everybody'
  readonly from: string
}

/** A job of another program as it was read: whatever of it has no match here is absent. */
export interface PeerJob {
  readonly name: string
  readonly isOn: boolean
  readonly isOnce: boolean
  readonly cron: string | undefined
  readonly timezone: string | undefined
  readonly prompt: string | undefined
  readonly deliverTo: string | undefined
  readonly agent?: string | undefined
}

type Schedule = PeerJob & { readonly cron: string; readonly prompt: string; readonly deliverTo: string }

/** A server of models; without a secret it has to be one that needs no key. */
export interface PeerServer {
  readonly name: string
  readonly kind: 'openai' | 'anthropic'
  readonly baseUrl?: string | undefined
  readonly secret?: FoundSecret | undefined
}

const MOST = { accounts: 20, people: 500, groups: 300, schedules: 200, agents: 20 } as const
const LONGEST_PROMPT = 64 * 1024
const LONGEST_NAME = 60
const ANSWERED = { mention: 'mentions', always: 'every message', never: 'nothing is answered' } as const
/** The person who claims the agent by its code is called so. */
const CLAIMED = 'owner'

/**
 * Gathers the set-up of another program in Parley's words. Nothing that it gives is wider than it was: who may talk is
 * taken only where Parley's one list of people says the same, and whatever was open to everybody becomes closed.
 */
export class SetupDraft {
  readonly rules: PeerRules
  readonly #taken: string[] = []
  readonly #left = new Set<string>()
  readonly #secrets: PeerSecret[] = []
  readonly #files: PeerFile[] = []
  readonly #channels = new Map<string, Map<string, Readonly<Record<string, unknown>>>>()
  readonly #servers = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #agents = new Map<string, Record<string, unknown>>()
  readonly #lists: AllowList[] = []
  readonly #owners = new Set<string>()
  readonly #names = new Map<string, string>()
  readonly #groups: PeerGroup[] = []
  readonly #routes: Readonly<Record<string, unknown>>[] = []
  readonly #schedules: Schedule[] = []
  readonly #wakeWords = new Set<string>()

  constructor(rules: PeerRules) {
    this.rules = rules
  }

  took(line: string): void {
    this.#taken.push(line)
  }

  left(line: string): void {
    this.#left.add(line)
  }

  /** Says that files with notes about people are not taken. */
  leftNotes(files: readonly string[]): void {
    if (files.length > 0)
      this.left(
        `${files.join(', ')}: instructions are shown in every chat, groups too, so what was noted of a person is not put ` +
          'there. Say it in a direct chat with /remember (the agent needs tools: [time, memory]).',
      )
  }

  /** Says that settings of the other program are not taken which run programs. */
  leftPrograms(settings: PeerFields, ours: Readonly<Record<string, string>>): void {
    for (const [key, setting] of Object.entries(ours))
      if (Object.keys(fields(settings[key])).length > 0)
        this.left(`${key}: not taken, since they run programs; look at ${setting} in reference.md.`)
  }

  /** The name of a platform for people. */
  title(channel: string): string {
    return this.rules.channels.traits(channel).name
  }

  /**
   * Adds an account with the secrets that `find` returns for each of its settings. Returns false for one that has none
   * there, and for one that cannot be taken, which is said.
   */
  account(
    channel: SharedChannel,
    name: string,
    { isOn, find }: { readonly isOn: boolean; find(setting: string, variable: string): FoundSecret | undefined },
  ): boolean {
    const found = SECRETS[channel].map(([setting, variable]) => [setting, find(setting, variable)] as const)
    const secrets = Object.fromEntries(found.flatMap(([setting, secret]) => (secret ? [[setting, secret]] : [])))
    if (Object.keys(secrets).length === 0) return false
    const account = toAccountId(name)
    const accounts = this.#channels.get(channel) ?? new Map()
    const what = `${this.title(channel)} account ${shownText(name)}`
    const missing = found.find(([, secret]) => secret === undefined)?.[0]
    if (missing !== undefined)
      this.left(`${what}: its ${missing} is missing or cannot be read; add it with --token ${channel}.${missing}=...`)
    else if (!isOn) this.left(`${what}: it is switched off there; add it under channels.${channel}.accounts to use it.`)
    else if (accounts.has(account) || accounts.size >= MOST.accounts)
      this.left(`${what}: there is another of that name, or there are too many; add it to the file by hand.`)
    else return this.#add(channel, account, secrets)
    return false
  }

  #add(channel: string, account: string, secrets: Readonly<Record<string, FoundSecret>>): true {
    const accounts = this.#channels.get(channel) ?? new Map()
    const block = Object.entries(secrets).map(([setting, secret]) => {
      const path = ['channels', channel, 'accounts', account, setting]
      return [setting, this.#reference(path, secret, `${channel}-${account}-${kebab(setting)}`)] as const
    })
    this.#channels.set(channel, accounts.set(account, Object.fromEntries(block)))
    const described = Object.values(secrets).map((secret) => this.#described(secret))
    this.took(`${this.title(channel)} account ${account}: ${described.join(', ')}.`)
    return true
  }

  hasChannel(channel: string): boolean {
    return this.#channels.has(channel)
  }

  /** Says who was answered in direct chats of an account; everybody (`*`) is nobody here, and said to be so. */
  allow(list: AllowList): void {
    const ids = list.ids.map((id) => bareId(id))
    if (ids.includes('*'))
      this.left(
        `${list.from} lets everybody in ("*"). Here only the owner may talk at first, and others ask; ` +
          'routing.access.direct: public opens direct chats to everybody.',
      )
    this.#lists.push({ ...list, ids: this.#usable(list.channel, ids, list.from) })
  }

  owner(channel: string, id: string, from: string): void {
    for (const one of this.#usable(channel, [bareId(id)], from)) this.#owners.add(`${channel}:${one}`)
  }

  /** Says that these ids are one person; it lets none of them in. Names alone say nothing: two people may share one. */
  link(name: string, ids: readonly { readonly channel: string; readonly id: string }[]): void {
    const shown = shownText(name)
    if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(shown) || shown.toLowerCase() === CLAIMED) return
    for (const { channel, id } of ids) this.#names.set(`${channel}:${bareId(id)}`, shown)
  }

  group(group: PeerGroup): void {
    this.#groups.push(group)
  }

  /** Adds a name that addresses the agent in groups. */
  wakeWord(name: string): void {
    const word = shownText(name).replace(/^@/, '')
    if (/[\p{L}\p{N}]/u.test(word) && word.length <= 40 && !word.includes('${')) this.#wakeWords.add(word)
  }

  /** Adds a server of models. Returns false for one that has no usable address or name. */
  server({ name, kind, baseUrl, secret }: PeerServer): boolean {
    if (this.#servers.has(name)) return true
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || /^(?:scripted|audio)$/.test(name)) return false
    if (baseUrl !== undefined && !isWebAddress(baseUrl)) return false
    const path = ['models', name, 'apiKey']
    this.#servers.set(name, {
      ...(name === kind ? {} : { kind }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(secret === undefined ? {} : { apiKey: this.#reference(path, secret, `${name}-api-key`) }),
    })
    const at = baseUrl === undefined ? '' : ` at ${shownText(baseUrl)}`
    this.took(`Models of ${name}${at}: ${secret === undefined ? 'no key' : this.#described(secret)}.`)
    return true
  }

  /** Adds an agent, the first as the default; further calls for the same add to it. */
  agent(
    id: string,
    { model, fallback }: { readonly model?: string; readonly fallback?: readonly string[] } = {},
  ): void {
    const agent = toAgentId(id)
    if (!this.#agents.has(agent) && this.#agents.size >= MOST.agents) {
      this.left(`Agent ${agent}: there are more than ${MOST.agents}; add it under agents by hand.`)
      return
    }
    const block = this.#agents.get(agent) ?? { id: agent }
    if (model !== undefined) block.model = model
    if (fallback !== undefined && fallback.length > 0) block.fallback = fallback.slice(0, 5)
    this.#agents.set(agent, block)
  }

  /** Gives an agent instructions from texts of the other program, below Parley's own. */
  instruct(id: string, texts: readonly { readonly from: string; readonly text: string }[]): void {
    const agent = toAgentId(id)
    const found = texts.filter(({ text }) => text.trim() !== '')
    if (found.length === 0) return
    const whole = [this.rules.prompt.trim(), ...found.map(({ text }) => cleanText(text).trim())].join('\n\n')
    const from = found.map((one) => one.from).join(' and ')
    if (Buffer.byteLength(whole) > LONGEST_PROMPT) {
      this.left(
        `${from}: longer than 64 KB, which every answer would pay for; shorten it to a file of agents[].prompt.`,
      )
      return
    }
    this.agent(id)
    const block = this.#agents.get(agent)
    if (block === undefined) return
    block.prompt = `prompts/${agent}.md`
    this.#files.push({ name: `prompts/${agent}.md`, text: `${whole}\n` })
    this.took(`${from}: the instructions of agent ${agent}, in prompts/${agent}.md.`)
  }

  /** Has an agent answer in a place. */
  route(match: Readonly<Record<string, string>>, agent: string): void {
    this.#routes.push({ match, agent: toAgentId(agent) })
  }

  /** Takes a job as a schedule, or says why it is none here. */
  async job(job: PeerJob): Promise<void> {
    const { isOn, isOnce, cron, prompt, deliverTo } = job
    const what = `Schedule "${shownText(job.name)}"`
    if (!isOn) this.left(`${what}: it is switched off there; write it under schedules to use it.`)
    else if (isOnce) this.left(`${what}: it runs once; say it anew: parley schedule add <place> <time and text>.`)
    else if (prompt === undefined || cron === undefined)
      this.left(`${what}: its times or its text have no match here; write it under schedules.`)
    else if (deliverTo === undefined)
      this.left(`${what}: it names no chat that is known here; write it under schedules, with deliverTo.`)
    else await this.#schedule({ ...job, cron, prompt, deliverTo })
  }

  async #schedule(job: Schedule): Promise<void> {
    const what = `Schedule "${shownText(job.name)}"`
    const given = job.cron.trim().split(/\s+/)
    // Some programs begin with the seconds.
    const cron = (given.length === 6 && given[0] === '0' ? given.slice(1) : given).join(' ')
    const [mistake] = await this.rules.checkTiming({ cron, timezone: job.timezone ?? 'UTC' })
    if (mistake !== undefined) this.left(`${what}: ${shownText(mistake.message, 200)}.`)
    else if (this.#schedules.length < MOST.schedules) this.#schedules.push({ ...job, cron })
    else this.left(`${what}: there are more than ${MOST.schedules}; add it under schedules by hand.`)
  }

  /** Returns all of it, as one set-up. */
  finish(): PeerSetup {
    const people = this.#people()
    const groups = this.#groupRules(people)
    const schedules = this.#scheduleBlocks()
    const members = [...people.values()].some(({ role }) => role !== 'owner')
    const access = {
      ...(members ? { direct: 'allowlist' } : {}),
      ...(groups.length === 0 ? {} : { groups }),
    }
    const routing = {
      ...(Object.keys(access).length === 0 ? {} : { access }),
      ...(this.#wakeWords.size === 0 ? {} : { wakeWords: [...this.#wakeWords].slice(0, 20) }),
      ...(this.#routes.length === 0 ? {} : { dispatch: this.#routes }),
    }
    const channels = [...this.#channels].map(([channel, accounts]) => [
      channel,
      { accounts: Object.fromEntries(accounts) },
    ])
    const config = {
      ...(people.size === 0 ? {} : { people: Object.fromEntries(people) }),
      ...(this.#agents.size === 0 ? {} : { agents: [...this.#agents.values()] }),
      ...(this.#servers.size === 0 ? {} : { models: Object.fromEntries(this.#servers) }),
      ...(channels.length === 0 ? {} : { channels: Object.fromEntries(channels) }),
      ...(Object.keys(routing).length === 0 ? {} : { routing }),
      ...(schedules.length === 0 ? {} : { schedules }),
    }
    return { config, secrets: this.#secrets, files: this.#files, taken: this.#taken, notTaken: [...this.#left] }
  }

  #reference(path: readonly string[], secret: FoundSecret, file: string): string {
    if (secret.kind === 'file') return `\${file:${secret.path}}`
    const { variable } = secret
    const set = variable === undefined ? undefined : this.rules.variable(variable)
    const value = set ?? (secret.kind === 'value' ? secret.value : undefined)
    const reference = set === undefined && secret.kind === 'value' ? `\${file:secrets/${file}}` : `\${env:${variable}}`
    const beside = set === undefined ? { file: `secrets/${file}` } : {}
    if (value !== undefined) this.#secrets.push({ path, reference, ...beside, read: () => value })
    return reference
  }

  #described(secret: FoundSecret): string {
    if (secret.kind === 'file') return `its secret stays in the file ${shownText(secret.path, 80)}`
    const { variable } = secret
    const isVariable = secret.kind === 'variable' || (variable && this.rules.variable(variable) !== undefined)
    if (isVariable) return `its secret is the variable ${variable}`
    return `its secret from ${secret.from} goes to a file of its own`
  }

  /** Returns the ids that identify one person each; the others are said. */
  #usable(channel: string, ids: readonly string[], from: string): readonly string[] {
    const { traits, examples } = this.rules.channels
    const { ids: form, name } = traits(channel)
    const unusable = (id: string): boolean =>
      !isWellFormedId(form, id) ||
      isShared(form, id) ||
      isPlaceholder(id, examples) ||
      (form.ofTeams && !id.includes('/'))
    const given = [...new Set(ids)].filter((id) => id !== '*' && id !== '')
    const wrong = given.filter(unusable)
    if (wrong.length > 0) {
      const reason = form.ofTeams
        ? 'an id counts here with its workspace before it, as /whoami says it'
        : `these are names, examples or ids of several people, and an id ${form.formInWords ?? 'is needed'}`
      const listed = `${some(wrong)} (${name})`
      this.left(`${from}: ${listed} is not taken: ${reason}. Let them in with /admit once they write.`)
    }
    return given.filter((id) => !unusable(id))
  }

  /** Returns the people by name; who was let in by some accounts of a channel alone is in none of them. */
  #people(): Map<string, { role?: 'owner'; ids: string[] }> {
    const people = new Map<string, { role?: 'owner'; ids: string[] }>()
    const add = (id: string, role?: 'owner'): void => {
      const name = this.#names.get(id) ?? id.replace(':', '-')
      const known = people.get(name) ?? { ids: [] }
      if (known.ids.includes(id)) return
      const isOwner = role === 'owner' || known.role === 'owner'
      people.set(name, { ...(isOwner ? { role: 'owner' as const } : {}), ids: [...known.ids, id] })
    }
    for (const id of this.#owners) add(id, 'owner')
    for (const channel of new Set(this.#lists.map((one) => one.channel))) {
      const lists = this.#lists.filter((one) => one.channel === channel)
      const all = new Set(lists.flatMap(({ ids }) => ids))
      const everywhere = [...all].filter((id) => lists.every(({ ids }) => ids.includes(id)))
      const partly = [...all].filter((id) => !everywhere.includes(id) && !this.#owners.has(`${channel}:${id}`))
      for (const id of everywhere.slice(0, MOST.people)) add(`${channel}:${id}`)
      if (partly.length > 0)
        this.left(
          `${some(partly)} (${this.title(channel)}) may talk to some accounts and not to others; the list of people ` +
            'here is one for all. Let them in with /admit once they write.',
        )
      if (everywhere.length > MOST.people)
        this.left(
          `${everywhere.length - MOST.people} people of ${this.title(channel)}: too many; add them under people.`,
        )
    }
    const owners = [...people.values()].filter(({ role }) => role === 'owner').length
    const members = people.size - owners
    if (owners > 0) this.took(`${owners === 1 ? 'The owner' : `${owners} owners`}, under people.`)
    if (members > 0)
      this.took(`${members} ${members === 1 ? 'person' : 'people'} who may talk in direct chats, under people.`)
    return people
  }

  #groupRules(people: ReadonlyMap<string, { role?: 'owner'; ids: string[] }>): readonly unknown[] {
    const members = [...people.values()].filter(({ role }) => role !== 'owner').flatMap(({ ids }) => ids)
    if (this.#groups.length > MOST.groups)
      this.left(`${this.#groups.length - MOST.groups} groups: too many; add them under routing.access.groups by hand.`)
    return this.#groups.slice(0, MOST.groups).flatMap((group) => this.#groupRule(group, members) ?? [])
  }

  /** A rule of ours admits all people of the list: where fewer were answered, the owner alone is. */
  #groupRule(group: PeerGroup, members: readonly string[]): unknown {
    const { channel, account, space, chat, topic, trigger, senders, from } = group
    if (senders === 'everybody') {
      this.left(
        `${from}: everybody there is answered. Here the owner is, who is asked about the group once somebody else ` +
          'speaks there; routing.access.groups with who: public opens it.',
      )
      return undefined
    }
    const allowed = new Set(senders.map((id) => `${channel}:${bareId(id)}`))
    const here = members.filter((id) => id.startsWith(`${channel}:`))
    const all = here.length > 0 && here.every((id) => allowed.has(id))
    this.#sayOfGroup(group, { here, allowed, all })
    const place = Object.entries({ channel, account, space, chat, topic }).filter(([, value]) => value !== undefined)
    return {
      match: Object.fromEntries(place),
      ...(all ? { who: 'allowlist' } : {}),
      ...(trigger === 'mention' ? {} : { trigger }),
    }
  }

  #sayOfGroup(
    { channel, space, chat, topic, trigger, from }: PeerGroup,
    { here, allowed, all }: { readonly here: readonly string[]; readonly allowed: Set<string>; readonly all: boolean },
  ): void {
    const where = `${this.title(channel)} ${shownText([space, chat, topic].filter((id) => id !== undefined).join('/'))}`
    const by = all ? ' by the people listed' : ' by the owner'
    this.took(`${where}: ${ANSWERED[trigger]}${trigger === 'never' ? '' : by}.`)
    if (trigger === 'never') return
    if (!all && here.some((id) => allowed.has(id)))
      this.left(`${from}: only some of the people listed may talk there; a rule with who: allowlist admits them all.`)
    const others = [...allowed].filter((id) => !here.includes(id) && !this.#owners.has(id))
    if (others.length > 0)
      this.left(
        `${from}: ${some(others)} may talk there and in no direct chat; name them under people, which lets them in ` +
          'wherever that list counts.',
      )
  }

  #scheduleBlocks(): readonly unknown[] {
    const ids = new Set<string>()
    return this.#schedules.map(({ name, cron, timezone, prompt, deliverTo, agent }) => {
      const slug = toAgentId(name).slice(0, 50)
      let id: string = slug
      for (let count = 2; ids.has(id); count++) id = `${slug}-${count}`
      ids.add(id)
      this.took(`Schedule ${id}: ${cron}${timezone === undefined ? '' : ` in ${timezone}`}, to ${deliverTo}.`)
      return {
        ...{ id, cron },
        ...(timezone === undefined ? {} : { timezone }),
        ...(agent !== undefined && this.#agents.has(toAgentId(agent)) ? { agent: toAgentId(agent) } : {}),
        ...{ prompt: cleanText(prompt), deliverTo },
      }
    })
  }
}

/** Returns a span that the clock divides evenly as times of day; undefined for any other. */
export function everyAsCron(ms: number): string | undefined {
  const minutes = ms / 60_000
  if (!Number.isInteger(minutes) || minutes < 1) return undefined
  if (minutes < 60) return 60 % minutes === 0 ? `*/${minutes} * * * *` : undefined
  const hours = minutes / 60
  if (!Number.isInteger(hours) || hours > 24 || 24 % hours !== 0) return undefined
  return hours === 24 ? '0 0 * * *' : hours === 1 ? '0 * * * *' : `0 */${hours} * * *`
}

/** Returns a path as a shell takes it. */
export function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Returns a text for one line of a report, without anything that a terminal would obey. */
export function shownText(text: string, most = LONGEST_NAME): string {
  const line = text
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}...` : line
}

/** Returns a text without control characters, and with no reference in it that our configuration would follow. */
function cleanText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t]/gu, '')
    .replaceAll('${', '$ {')
    .trim()
}

/** Returns an id without the prefix of its platform, and without the marks of a mention. */
function bareId(id: string): string {
  const bare = id.trim().replace(/^<@!?(\w+)>$/, '$1')
  return bare.replace(/^(?:telegram|tg|discord|dc|slack|user):/i, '').trim()
}

function some(ids: readonly string[]): string {
  const named = ids.slice(0, 3).map((id) => shownText(id, 30))
  return ids.length > 3 ? `${named.join(', ')} and ${ids.length - 3} more` : named.join(', ')
}

function kebab(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s{}?#]+$/.test(text) || parseUrl(text) === undefined) return false
  const { username, password } = new URL(text)
  return username + password === ''
}
