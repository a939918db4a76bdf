import { type Channels, type IdTraits, OWN_CHANNELS } from '../core/channel-traits.ts'
import { mcpGroup } from '../core/mcp.ts'
import { MEMORY_GROUP } from '../core/memory.ts'
import { namesTool } from '../core/place.ts'
import { TOOL_NAMES } from '../core/tool-names.ts'
import { suggestion } from './describe-issue.ts'
import type { ConfigFile } from './schema.ts'

interface Place {
  readonly channel?: string
  readonly account?: string
  readonly chat?: string
  readonly topic?: string
}

interface Rule {
  readonly path: string
  readonly match: Readonly<Record<string, unknown>>
  /** Added to its path where the warning is about another rule. */
  readonly note?: string
}

/** Limits the accounts that a warning names. */
const MOST_NAMED = 20

const TYPED_CHAT = /^(direct|group|channel):(.+)$/is

/** Returns one warning for each rule that can match nothing, or nothing that an earlier rule leaves over. */
export function idleRuleWarnings(file: ConfigFile, channels: Channels): readonly string[] {
  const groups = file.routing.access.groups.map(
    ({ match, who }, index): Rule => ({ path: `routing.access.groups[${index}]`, match, note: ` (who: ${who})` }),
  )
  const routes = file.routing.dispatch.map(({ match }, index): Rule => ({ path: `routing.dispatch[${index}]`, match }))
  const sends = file.session.sendPolicy.rules.map(
    ({ match }, index): Rule => ({ path: `session.sendPolicy.rules[${index}]`, match }),
  )
  const kept = file.retention.rules.map(
    ({ match, days }, index): Rule => ({ path: `retention.rules[${index}]`, match, note: ` (days: ${days})` }),
  )
  const names = new Set(Object.keys(file.people).map((name) => name.toLowerCase()))
  const empty = routes.filter(({ match }) => isEmpty(match))
  return [
    ...[...groups, ...routes, ...sends, ...kept].flatMap((rule) => [
      ...placeWarnings(rule, file, channels),
      ...titleWarnings(rule, channels),
      ...senderWarnings(rule, names, channels),
    ]),
    ...empty.map(({ path }) => `${path}.match: is empty, so the rule matches nothing; name a place or a sender`),
    ...groups.flatMap((rule) => personWarnings(rule, channels)),
    ...shadowWarnings(groups),
    ...shadowWarnings(kept),
    ...shadowWarnings(routes.filter(({ match }) => !isEmpty(match))),
    ...unheardWarnings(file),
  ]
}

/** A channel or an account that the file does not have, and a topic's title where its id belongs. */
function placeWarnings({ path, match }: Rule, { channels }: ConfigFile, { traits }: Channels): readonly string[] {
  const { channel, account, topic } = match as Place
  const block = channel === undefined ? undefined : channels[channel]
  if (channel !== undefined && block === undefined)
    return [`${path}.match.channel: the file has no channels.${channel}, so the rule matches nothing`]
  const accounts = (block === undefined ? Object.values(channels) : [block]).map((one) => one?.accounts ?? {})
  if (account !== undefined && !accounts.some((one) => Object.hasOwn(one, normal(account)))) {
    const known = accounts.flatMap(Object.keys)
    const some = known.slice(0, MOST_NAMED).join(', ') + (known.length > MOST_NAMED ? ', …' : '')
    return [`${path}.match.account: no account is called "${account}", so the rule matches nothing; there are ${some}`]
  }
  if (topic === undefined || /\d/.test(topic)) return []
  const where = channel === undefined ? 'any platform' : traits(channel).name
  return [
    `${path}.match.topic: "${topic}" is no id of ${where}, so the rule matches nothing; /whoami there says the id`,
  ]
}

/** A chat's title where its id belongs. */
function titleWarnings({ path, match }: Rule, { platforms, traits }: Channels): readonly string[] {
  const { channel, chat } = match as Place
  if (chat === undefined) return []
  const id = TYPED_CHAT.exec(chat.trim())?.[2] ?? chat.trim()
  const ids = channel === undefined ? platforms : [channel]
  if (id === '' || ids.some((one) => couldBeId(traits(one).ids, id))) return []
  const where = channel === undefined ? 'any platform' : traits(channel).name
  return [`${path}.match.chat: "${id}" is no id of ${where}, so the rule matches nothing; /whoami there says the id`]
}

/** A person's id where a group's belongs: on Telegram the one without its minus. */
function personWarnings({ path, match }: Rule, { traits }: Channels): readonly string[] {
  const { channel, chat } = match as Place
  if (channel === undefined || chat === undefined) return []
  const { name, ids } = traits(channel)
  const id = TYPED_CHAT.exec(chat.trim())?.[2] ?? chat.trim()
  if (ids.groupForm === undefined || !/^\d+$/.test(id) || ids.groupForm.test(id)) return []
  return [
    `${path}.match.chat: "${id}" is no id of a group of ${name}, so the rule matches nothing; /whoami there says the id`,
  ]
}

/** A sender who is nobody under people, and no id. */
function senderWarnings({ path, match }: Rule, names: ReadonlySet<string>, channels: Channels): readonly string[] {
  return (['sender', 'person'] as const).flatMap((field) => {
    const text = match[field]
    if (typeof text !== 'string' || text.trim() === '' || text.includes(':')) return []
    const isId = channels.platforms.some((one) => couldBeId(channels.traits(one).ids, text.trim()))
    if (isId || names.has(text.trim().toLowerCase())) return []
    return [
      `${path}.match.${field}: nobody under people is called "${text}", so the rule matches nothing; write a name from there, or the id that /whoami says`,
    ]
  })
}

/** Returns a warning for each listed person whom no rule lets in, neither in private nor in a group. */
function unheardWarnings({ people, routing: { access } }: ConfigFile): readonly string[] {
  if (access.direct !== 'owner') return []
  const open = access.groups.filter(({ who, trigger }) => who !== 'owner' && trigger !== 'never')
  return Object.entries(people).flatMap(([name, { role, ids }]) => {
    const reaches = (channel: string): boolean => ids.some((one) => normal(one).startsWith(`${channel}:`))
    if (role === 'owner' || open.some(({ match: { channel } }) => channel === undefined || reaches(channel))) return []
    return [
      `people.${name}: may talk nowhere but in groups let in by /admit, for routing.access is for the owner; set routing.access.direct to allowlist, or write a rule for a group`,
    ]
  })
}

/** Limits the rules that each is compared with: with all of them it would take the square of their number. */
const MOST_COMPARED = 300

function shadowWarnings(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ path, match }, index) => {
    const before = rules.slice(0, Math.min(index, MOST_COMPARED)).find((earlier) => covers(earlier.match, match))
    if (before === undefined) return []
    return [
      `${path}: is never reached, for ${before.path}${before.note ?? ''} matches all of it before; put the narrower rule first`,
    ]
  })
}

function covers(wide: Rule['match'], narrow: Rule['match']): boolean {
  return Object.entries(wide).every(([field, value]) => {
    if (value === undefined) return true
    const other = narrow[field]
    return field === 'chat' ? coversChat(String(value), other) : normal(value) === normal(other)
  })
}

function coversChat(wide: string, narrow: unknown): boolean {
  if (typeof narrow !== 'string') return false
  const [one, other] = [normal(wide), normal(narrow)]
  return one === other || (!TYPED_CHAT.test(one) && one === TYPED_CHAT.exec(other)?.[2])
}

function normal(value: unknown): string {
  return String(value).trim().toLowerCase()
}

function isEmpty(match: Rule['match']): boolean {
  return Object.values(match).every((value) => value === undefined)
}

/** Every id has a digit; where those of people have letters, those of chats have other ones. */
function couldBeId({ form }: IdTraits, id: string): boolean {
  if (!/\d/.test(id)) return false
  return form === undefined || form.test(id) || (form.test('U1') && /^[a-z0-9/]+$/i.test(id))
}

const TYPES: readonly string[] = ['direct', 'group', 'channel']
/** `<channel>[@<account>]:<rest>` */
const OF_CHANNEL = /^([a-z][a-z0-9_-]*)(?:@[^:]+)?:(.*)$/i

/**
 * Returns one warning for each place in a rule for tools that no session can have as its name: a rule that denies
 * something there would deny nothing.
 */
export function idlePlaceWarnings({ tools: { policy, mcp }, session, channels }: ConfigFile): readonly string[] {
  const known = Object.keys(channels)
  const warned = (path: string, keys: readonly string[] = []): readonly string[] =>
    keys.flatMap((key, index) => {
      const why = whyIdle(key, known, session.scope)
      return why === undefined ? [] : [`${path}.in[${index}]: no session is called ${key}, so it does nothing; ${why}`]
    })
  return [
    ...policy.flatMap((rule, index) => warned(`tools.policy[${index}]`, rule.in)),
    ...Object.entries(mcp).flatMap(([name, { inside }]) =>
      inside.flatMap((one, index) =>
        typeof one === 'string' ? [] : warned(`tools.mcp.${name}.inside[${index}]`, one.in),
      ),
    ),
  ]
}

function whyIdle(key: string, channels: readonly string[], scope: string): string | undefined {
  const [, channel = '', rest = ''] = OF_CHANNEL.exec(key) ?? []
  const name = channel.toLowerCase()
  if (!channels.includes(name) || OWN_CHANNELS.includes(name)) return undefined
  const [type = ''] = rest.split(':')
  if (channel !== name || !rest.includes(':') || !TYPES.includes(type))
    return `write ${name}:direct:<chat>, ${name}:group:<chat> or ${name}:channel:<chat>, as parley sessions show says it`
  if (scope !== 'global' || type !== 'direct') return undefined
  return 'with session.scope global all direct chats are one session, main'
}

/** The names that tools of the operator's own may have, and beginnings of these. */
const OWN_NAME = /^(?!.*__)[a-z][a-z0-9_]*\*?$/

/** Returns one warning for each name of a tool that no tool has: a rule that denies it would deny nothing. */
export function idleToolWarnings({ tools: { policy, mcp, own } }: ConfigFile): readonly string[] {
  const servers = Object.keys(mcp)
  const hasOwn = Object.keys(own).length > 0
  const rules = policy.flatMap(({ tools }, index) =>
    tools.flatMap((pattern, place) => {
      if (couldName(pattern, servers)) return []
      const hint = meant(pattern, servers)
      // The names of the operator's own tools are in files that are not read here.
      const couldBeOwn = hasOwn && OWN_NAME.test(pattern)
      if (couldBeOwn && hint === '') return []
      const nothing = couldBeOwn ? `so it does nothing, unless a file under tools.own has it` : 'so it does nothing'
      return [`tools.policy[${index}].tools[${place}]: no tool is called ${pattern}, ${nothing}${hint}`]
    }),
  )
  return [...rules, ...Object.entries(mcp).flatMap(([name, { tools, inside }]) => insideWarnings(name, tools, inside))]
}

/** Returns true if a tool of this kind may have the name: those of servers are known by their beginning alone. */
function couldName(pattern: string, servers: readonly string[]): boolean {
  if (TOOL_NAMES.some((tool) => namesTool([pattern], tool))) return true
  const [begins, open] = pattern.endsWith('*') ? [pattern.slice(0, -1), true] : [pattern, false]
  return servers.some((server) => begins.startsWith(`${server}__`) || (open && `${server}__`.startsWith(begins)))
}

function meant(pattern: string, servers: readonly string[]): string {
  const server = servers.find((one) => pattern.replace(/^mcp\./, '').startsWith(one))
  if (server !== undefined) return `; the tools of that server are ${server}__<tool>, all of them ${server}__*`
  const group = TOOL_NAMES.filter((tool) => tool.split('_').includes(pattern))
  return group.length > 0 ? `; a rule names tools: ${group.join(', ')}` : suggestion(pattern, TOOL_NAMES)
}

type Server = ConfigFile['tools']['mcp'][string]

function insideWarnings(name: string, tools: Server['tools'], inside: Server['inside']): readonly string[] {
  const marked = inside.flatMap((one) => (typeof one === 'string' ? [one] : one.tools))
  const left = marked.filter((one) => tools !== undefined && !one.endsWith('*') && !namesTool(tools, one))
  return left.map((one) => `tools.mcp.${name}.inside: ${one} is not among tools, so no agent has it; add it there`)
}

/**
 * One warning for each setting that is read and checked, but does nothing: its feature does not run yet, or not there.
 */
export function noEffectWarnings(file: ConfigFile, { traits }: Channels): readonly string[] {
  const idle: string[] = []
  for (const [index, rule] of file.routing.access.groups.entries()) {
    const { channel } = rule.match
    const rooms = rule.followThreads && channel !== undefined && traits(channel).topics === 'rooms'
    if (rooms)
      idle.push(
        `routing.access.groups[${index}].followThreads: ${traits(channel).name} has no threads to follow; take it out`,
      )
  }
  for (const [index, { bots, botIds = [] }] of file.routing.access.groups.entries()) {
    if ((bots === 'mentioned' || bots === 'allow') && botIds.length === 0) {
      idle.push(`routing.access.groups[${index}].bots: no bot is listed under botIds, so none is answered`)
    }
  }
  for (const [index, { trigger, precheck }] of file.routing.access.groups.entries()) {
    if (precheck !== undefined && trigger !== 'always')
      idle.push(
        `routing.access.groups[${index}].precheck: is asked with trigger: always alone; set that, or take it out`,
      )
  }
  if (file.session.checkpoint !== undefined && !file.agents.some(({ tools }) => tools?.includes(MEMORY_GROUP)))
    idle.push('session.checkpoint: no agent has the tools memory, so there is no checkpoint; add them, or take it out')
  idle.push(...unusedServers(file))
  return idle
}

/** A server that is configured is not yet a tool of anybody. */
function unusedServers({ agents, tools: { mcp } }: ConfigFile): readonly string[] {
  const used = new Set(agents.flatMap(({ tools = [] }) => tools))
  const unused = Object.keys(mcp).filter((name) => !used.has(mcpGroup(name)))
  return unused.map((name) => `tools.mcp.${name}: no agent has its tools; add ${mcpGroup(name)} to agents[].tools`)
}
