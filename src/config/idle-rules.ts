import type { Channels, IdTraits } from '../core/channel-traits.ts'
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
