import type { ChannelTraits } from '../core/channel-traits.ts'
import type { AgentId } from '../core/ids.ts'
import { DIMENSIONS, type Dimension } from '../core/session.ts'
import {
  decide,
  mayAgree,
  narrow,
  type Region,
  type RuleLists,
  type Site,
  type SiteField,
  siteOn,
  type TraitedChannel,
} from './compare-rules.ts'
import { push } from './rule-index.ts'

/** Region on one channel, with the lists its session keys were made from and are made from now. */
export interface Keyed<Rule> {
  readonly region: Region<Rule>
  /** The agent that answers there now. */
  readonly agent: AgentId
  readonly before: readonly Dimension[]
  readonly after: readonly Dimension[]
}

/** Region in which a message shares a session it did not share before, with a message of the other or of its own. */
interface Join<Rule> {
  readonly one: Keyed<Rule>
  readonly other: Keyed<Rule>
}

/** After so many tries, which take some tenths of a second, whatever is left counts as joined. */
const TRIES = 5_000

/**
 * Returns the regions whose lists changed and in which a message may be that now shares a session which it did not
 * share before. Two messages share one if their lists name the same of the dimensions that they have, in one order, and
 * the values are the same. Where neither list changed both keys are as before, so one of two that are joined is in a
 * region whose list changed.
 */
export function findJoins<Rule>(
  lists: RuleLists<Rule>,
  keyed: readonly Keyed<Rule>[],
  ground: TraitedChannel,
): readonly Join<Rule>[] {
  const changed = keyed.filter(({ before, after }) => before.join() !== after.join())
  if (changed.length === 0) return []
  const families = familiesOf(keyed)
  const known = new Map<string, readonly Way[]>()
  let tries = 0
  return changed.flatMap((one) => {
    const able = [...families].flatMap(([name, family]): Able<Rule>[] => {
      const names = `${familyName(one)} ${name}`
      const ways = known.get(names) ?? waysToJoin(one, family.first, ground.traits)
      known.set(names, ways)
      return ways.length === 0 ? [] : [{ family, ways }]
    })
    for (const { other, ways } of candidates(able, one)) {
      if (++tries > TRIES || ways.some((way) => mayJoin(lists, { one, other }, ground, way))) return [{ one, other }]
    }
    return []
  })
}

/** The regions with one agent and the same lists, by the chat they are about. */
interface Family<Rule> {
  readonly first: Keyed<Rule>
  readonly wide: readonly Keyed<Rule>[]
  readonly byChat: ReadonlyMap<string, readonly Keyed<Rule>[]>
}

interface Able<Rule> {
  readonly family: Family<Rule>
  readonly ways: readonly Way[]
}

function familiesOf<Rule>(keyed: readonly Keyed<Rule>[]): ReadonlyMap<string, Family<Rule>> {
  const families = new Map<string, { first: Keyed<Rule>; wide: Keyed<Rule>[]; byChat: Map<string, Keyed<Rule>[]> }>()
  for (const one of keyed) {
    const name = familyName(one)
    const family = families.get(name) ?? { first: one, wide: [], byChat: new Map<string, Keyed<Rule>[]>() }
    families.set(name, family)
    const { chat } = one.region.site
    if (chat === undefined) family.wide.push(one)
    else push(family.byChat, chat, one)
  }
  return families
}

function familyName({ agent, before, after }: Keyed<unknown>): string {
  return `${agent}|${before.join()}|${after.join()}`
}

/** Those about no chat come first: where there is something to find they show it. */
function* candidates<Rule>(able: readonly Able<Rule>[], { region: { site } }: Keyed<Rule>) {
  for (const { family, ways } of able) for (const other of family.wide) yield { other, ways }
  for (const { family, ways } of able) {
    // Whoever shares a session that a chat sets apart is in that chat.
    const inChat = site.chat !== undefined && ways.every(({ shared }) => shared.includes('chat'))
    const narrow = inChat ? [family.byChat.get(site.chat) ?? []] : family.byChat.values()
    for (const others of narrow) for (const other of others) yield { other, ways }
  }
}

/** One way in which two messages come to share a key. */
interface Way {
  /** The dimensions that the one has, and that the other has. */
  readonly has: readonly Dimension[]
  readonly otherHas: readonly Dimension[]
  /** The dimensions that both keys have. */
  readonly shared: readonly Dimension[]
  /** The dimensions that set their keys apart before; undefined: the keys never were the same. */
  readonly apart: readonly Dimension[] | undefined
}

/** Every message has a chat. */
const PRESENT: readonly (readonly Dimension[])[] = [[], ['space'] as const].flatMap((space) =>
  [[], ['topic'] as const].flatMap((topic) =>
    [[], ['sender'] as const].map((sender): readonly Dimension[] => ['chat', ...space, ...topic, ...sender]),
  ),
)

function waysToJoin(one: Keyed<unknown>, other: Keyed<unknown>, traits: ChannelTraits): readonly Way[] {
  if (one.agent !== other.agent) return []
  const ways = PRESENT.flatMap((has) =>
    PRESENT.flatMap((otherHas): Way[] => {
      const key = keyOf(one.after, has, traits)
      if (key !== keyOf(other.after, otherHas, traits)) return []
      const way = { has, otherHas, shared: namedIn(key) }
      const from = keyOf(one.before, has, traits)
      if (from !== keyOf(other.before, otherHas, traits)) return [{ ...way, apart: undefined }]
      const apart = namedIn(from).filter((dimension) => !way.shared.includes(dimension))
      return apart.length === 0 ? [] : [{ ...way, apart }]
    }),
  )
  return ways.filter((way) => !ways.some((wider) => wider !== way && covers(wider, way)))
}

/** Returns true if `wider` asks for less, so that it is open wherever `way` is. */
function covers(wider: Way, way: Way): boolean {
  const all = (some: readonly Dimension[], of: readonly Dimension[]) =>
    some.every((dimension) => of.includes(dimension))
  const apart = wider.apart === undefined || (way.apart !== undefined && all(way.apart, wider.apart))
  return apart && all(wider.shared, way.shared) && all(way.has, wider.has) && all(way.otherHas, wider.otherHas)
}

/** Returns the parts of a key as `session-key.ts` makes it: where topics are rooms, the chat includes its topic. */
function keyOf(list: readonly Dimension[], has: readonly Dimension[], { topics }: ChannelTraits): string {
  const suffix = topics === 'rooms' && has.includes('topic') && !list.includes('topic') ? '/topic' : ''
  const parts = list.filter((dimension) => has.includes(dimension))
  return parts.map((dimension) => (dimension === 'chat' ? `chat${suffix}` : dimension)).join('|')
}

function namedIn(key: string): readonly Dimension[] {
  return DIMENSIONS.filter((dimension) => key.includes(dimension))
}

/** The fields of a rule that fix a dimension's value. This table does not know which senders are one person. */
const FIELDS: Readonly<Record<Dimension, readonly SiteField[]>> = {
  space: ['space', 'spaceType'],
  chat: ['chat', 'chatType'],
  topic: ['topic'],
  sender: [],
}

function mayJoin<Rule>(
  lists: RuleLists<Rule>,
  { one: { region: one }, other: { region: other } }: Join<Rule>,
  ground: TraitedChannel,
  { has, otherHas, shared, apart }: Way,
): boolean {
  if (!mayLack(one.site, has) || !mayLack(other.site, otherHas)) return false
  if (apart?.every((dimension) => isSame(one.site, other.site, dimension))) return false
  const fields: readonly SiteField[] = ['account', ...shared.flatMap((dimension) => FIELDS[dimension])]
  if (!mayAgree(one.site, other.site, fields)) return false
  const [left, right] = [narrow(one.site, other.site, fields), narrow(other.site, one.site, fields)]
  return decide(lists, one, siteOn(left, ground)) && decide(lists, other, siteOn(right, ground))
}

/** Returns true if a message at a site may have these dimensions and no others. */
function mayLack(site: Site, has: readonly Dimension[]): boolean {
  return DIMENSIONS.every((dimension) => has.includes(dimension) || !isNamed(site, dimension))
}

function isNamed(site: Site, dimension: Dimension): boolean {
  return dimension === 'sender' ? site.senders.length > 0 : site[dimension] !== undefined
}

/** Returns true if all messages of two sites have the same value. */
function isSame(one: Site, other: Site, dimension: Dimension): boolean {
  const fields = FIELDS[dimension]
  return fields.length > 0 && fields.every((field) => one[field] !== undefined && one[field] === other[field])
}
