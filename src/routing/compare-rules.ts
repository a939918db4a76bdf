import { type Channels, type ChannelTraits, createChannels } from '../core/channel-traits.ts'
import { type ChannelId, toPersonId } from '../core/ids.ts'
import type { DispatchRule, GroupRule, RoutingPolicy } from '../core/policy.ts'
import { type Link, mayNameOne, parseLink, writtenLink } from './identity-links.ts'
import { ANY_PLACE, compilePlace, matchesValue, type PlaceConstraint, placeKeys } from './place-match.ts'
import { createRuleIndex, firstMatch, type IndexKey, push, type Ranked, type RuleIndex } from './rule-index.ts'

/** One line about what a changed policy does. */
export interface PolicyChange {
  /** Above 0 it lets more be said, seen or done. */
  readonly by: number
  readonly line: string
}

/** Compares a setting whose values are given from the narrowest to the widest. */
export function compareRanked<Value extends string | number | boolean>(
  path: string,
  values: readonly Value[],
  { before, after }: { readonly before: Value; readonly after: Value },
): PolicyChange[] {
  if (before === after) return []
  return [{ by: values.indexOf(after) - values.indexOf(before), line: `${path}: ${after} (was ${before})` }]
}

/** The changes, and each of them the other way round as well if `also`. */
export function bothWays(changes: readonly PolicyChange[], also: boolean): PolicyChange[] {
  return changes.flatMap((change) => (also ? [change, { ...change, by: -change.by }] : [change]))
}

/** Reads the names of senders. */
export interface KnownSenders {
  readonly channels: Channels
  /** Knows the people of both configurations. */
  isPerson(this: void, sender: string): boolean
}

export function knownSenders(before: RoutingPolicy, after: RoutingPolicy): KnownSenders {
  const [was, is] = [before, after].map(({ people }) => new Set<string>(people.map(({ id }) => id)))
  const isPerson = (sender: string): boolean => {
    const name = toPersonId(sender)
    return was?.has(name) === true && is?.has(name) === true
  }
  return { channels: createChannels(after.traits), isPerson }
}

/** The place where a rule applies. */
export interface Site extends PlaceConstraint {
  /** On the channels whose ids have a case, or on the others. */
  readonly cased: boolean | undefined
  readonly senders: readonly string[]
  readonly mentioned: boolean | undefined
}

/** One rule of a list with the site it is about; the first one whose site holds a place decides there. */
interface Sited<Rule> {
  readonly site: Site
  readonly rule: Rule
}

const TOLD = ['channel', 'account', 'space', 'spaceType', 'chatType', 'chat', 'topic', 'mentioned'] as const
const FIELDS = [...TOLD, 'cased'] as const
export type SiteField = (typeof FIELDS)[number]
const ANYWHERE: Site = { ...ANY_PLACE, cased: undefined, senders: [], mentioned: undefined }

export function sitesOfGroup({ match }: GroupRule, channels: Channels): readonly Site[] {
  return sitesOf(compilePlace(match, 'routing.access.groups', channels), channels)
}

export function sitesOfDispatch({ match }: DispatchRule, { channels, isPerson }: KnownSenders): readonly Site[] {
  const { sender = '', mentioned } = match
  const name = isPerson(sender) ? toPersonId(sender) : writtenLink(channels, sender)
  const senders = name === '' ? [] : [name]
  const sites = sitesOf(compilePlace(match, 'routing.dispatch', channels), channels)
  return sites.map((site) => ({ ...site, senders, mentioned }))
}

/** A rule that names no channel means other ids where their case counts, so that it is about two sites. */
function sitesOf({ written, ...place }: PlaceConstraint, channels: Channels): readonly Site[] {
  const site: Site = { ...ANYWHERE, ...place }
  if (written !== undefined)
    return [
      { ...site, cased: false },
      { ...site, ...written, cased: true },
    ]
  if (place.channel === undefined) return [site]
  return [siteOn(site, { channel: place.channel, traits: channels.traits(place.channel) })]
}

/** One channel with its traits. */
export interface TraitedChannel {
  readonly channel: ChannelId
  readonly traits: ChannelTraits
}

/** The part of a site that is on one channel. */
export function siteOn(site: Site, { channel, traits }: TraitedChannel): Site {
  return { ...site, channel, cased: traits.ids.caseSensitive }
}

export function isOn(site: Site, { channel, traits }: TraitedChannel): boolean {
  return matchesValue(site.channel, channel) && matchesValue(site.cased, traits.ids.caseSensitive)
}

/** One list of rules before or after, with a last entry for the places that no rule holds. */
export interface RuleList<Rule> {
  readonly entries: readonly Entry<Rule>[]
  /** The first entry about each site, by its text. */
  readonly ranks: ReadonlyMap<string, number>
  readonly index: RuleIndex<Entry<Rule>>
}

interface Entry<Rule> extends Ranked, Sited<Rule> {
  readonly text: string
}

export function createRuleList<Rule>(rules: readonly Sited<Rule>[], otherwise: Rule): RuleList<Rule> {
  const entries = [...rules, { site: ANYWHERE, rule: otherwise }].map(
    ({ site, rule }, rank): Entry<Rule> => ({ site, rule, rank, text: siteText(site) }),
  )
  return {
    entries,
    ranks: new Map(entries.toReversed().map(({ text, rank }) => [text, rank])),
    index: createRuleIndex(entries, ({ site }) => siteKeys(site)),
  }
}

/** Places at which one entry of the list before decided, and one of the list after decides. */
export interface Region<Rule> {
  readonly site: Site
  readonly was: Entry<Rule>
  readonly is: Entry<Rule>
}

export interface RuleLists<Rule> {
  readonly before: RuleList<Rule>
  readonly after: RuleList<Rule>
}

/** So many regions cost some tenths of a second, and nobody reads what there is to say of them. */
const REGIONS = 10_000

/**
 * Returns the regions that cover every place, the widest first; undefined where there are too many to compare. Where
 * two entries decide somewhere, they decide at all of the site in which they meet as far as that site shows: an earlier
 * one that holds the site would have decided.
 */
export function regionsOf<Rule>(lists: RuleLists<Rule>, known: KnownSenders): readonly Region<Rule>[] | undefined {
  const mayBeOne = createNames(known)
  const found: Region<Rule>[] = []
  for (const { was, is } of pairsOf(lists)) {
    const site = meet(was.site, is.site, mayBeOne)
    if (site === undefined || !decide(lists, { was, is }, site)) continue
    if (found.length === REGIONS) return undefined
    found.push({ site, was, is })
  }
  return found
}

/**
 * The pairs of entries that may decide at one place. Of two rules that kept their order the first decides in both
 * lists, which leaves few pairs of a long list.
 */
function* pairsOf<Rule>({ before, after }: RuleLists<Rule>): Generator<Pick<Region<Rule>, 'was' | 'is'>> {
  const filed = fileByChat(widestFirst(after.entries))
  const rankBefore = after.entries.map((is) => rankIn(before, is))
  for (const was of widestFirst(before.entries)) {
    const rankAfter = rankIn(after, was)
    for (const is of filed(was.site.chat)) {
      if (rankAfter >= is.rank && Number(rankBefore[is.rank]) >= was.rank) yield { was, is }
    }
  }
}

/** Returns the rank at which a list decides for the whole site of an entry. */
function rankIn<Rule>({ ranks }: RuleList<Rule>, { text }: Entry<Rule>): number {
  return ranks.get(text) ?? Infinity
}

function widestFirst<Rule>(entries: readonly Entry<Rule>[]): readonly Entry<Rule>[] {
  return [...entries.slice(-1), ...entries.slice(0, -1)]
}

/** Entries that may be about a chat. */
function fileByChat<Rule>(entries: readonly Entry<Rule>[]): (chat: string | undefined) => readonly Entry<Rule>[] {
  const wide = entries.filter(({ site }) => site.chat === undefined)
  const filed = new Map<string, Entry<Rule>[]>()
  for (const entry of entries) if (entry.site.chat !== undefined) push(filed, entry.site.chat, entry)
  return (chat) => (chat === undefined ? entries : [...wide, ...(filed.get(chat) ?? [])])
}

/** Returns true if the entries of a region decide at a site, as far as the site shows. */
export function decide<Rule>(
  { before, after }: RuleLists<Rule>,
  { was, is }: Pick<Region<Rule>, 'was' | 'is'>,
  site: Site,
): boolean {
  return entryAt(before, site) === was && entryAt(after, site) === is
}

/** The first entry that holds the whole of a site. */
function entryAt<Rule>({ index }: RuleList<Rule>, at: Site): Entry<Rule> | undefined {
  const { channel, account, space, chat, topic } = at
  const [person, senderId] = at.senders
  return firstMatch(index, { channel, account, space, chat, topic, person, senderId }, ({ site }) => holds(site, at))
}

/** A rule's sender may be the one or the other of a site's. */
function siteKeys(site: Site): readonly IndexKey[] {
  const [value] = site.senders
  if (site.chat !== undefined || value === undefined) return placeKeys(site)
  return [
    { field: 'person', value },
    { field: 'senderId', value },
  ]
}

function siteText(site: Site): string {
  return JSON.stringify([...FIELDS.map((field) => site[field] ?? null), ...site.senders])
}

function holds(site: Site, at: Site): boolean {
  for (const field of FIELDS) if (!matchesValue<unknown>(site[field], at[field])) return false
  return site.senders.every((sender) => at.senders.includes(sender))
}

/** The places both hold; undefined if there are none. */
function meet(one: Site, other: Site, mayBeOne: (one: string, other: string) => boolean): Site | undefined {
  if (!mayAgree(one, other, FIELDS)) return undefined
  if (one.senders.some((sender) => other.senders.some((another) => !mayBeOne(sender, another)))) return undefined
  return { ...narrow(one, other, FIELDS), senders: [...new Set([...one.senders, ...other.senders])] }
}

/** Returns true if two sites can hold two places that are equal in some fields. */
export function mayAgree(one: Site, other: Site, fields: readonly SiteField[]): boolean {
  for (const field of fields) {
    if (one[field] !== undefined && other[field] !== undefined && one[field] !== other[field]) return false
  }
  return true
}

/** The part of a site whose places have what another site says of some fields. */
export function narrow(site: Site, by: Partial<Site>, fields: readonly SiteField[]): Site {
  const narrowed: Record<SiteField, unknown> = { ...site }
  for (const field of fields) narrowed[field] ??= by[field]
  return narrowed as typeof site
}

/** Tells whether one sender may have two names: people of the store are not known here, nor which ids they have. */
function createNames({ channels, isPerson }: KnownSenders): (one: string, other: string) => boolean {
  const known = new Map<string, { readonly person: boolean; readonly link: Link }>()
  const read = (name: string) => {
    const found = known.get(name) ?? { person: isPerson(name), link: parseLink(channels, name) }
    known.set(name, found)
    return found
  }
  return (one, other) => {
    if (one === other) return true
    const [left, right] = [read(one), read(other)]
    if (left.person && right.person) return false
    return isId(left.link) && isId(right.link) ? mayNameOne(left.link, right.link) : true
  }
}

function isId({ channel, team, id }: Link): boolean {
  return channel !== undefined || team !== undefined || /^-?\d+$/.test(id)
}

export function describeSite(site: Site, otherwise: string): string {
  const set = TOLD.filter((field) => site[field] !== undefined).map((field) => `${field} ${site[field]}`)
  return [...set, ...site.senders.map((sender) => `sender ${sender}`)].join(', ') || otherwise
}
