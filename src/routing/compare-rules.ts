import type { Channels } from '../core/channel-traits.ts'
import type { DispatchRule, GroupRule } from '../core/policy.ts'
import { type Link, overlaps, parseLink } from './identity-links.ts'
import { normalised } from './match-facts.ts'
import { ANY_PLACE, allows, compilePlace, type PlaceConstraint } from './place-match.ts'

/** One line about what a changed policy does. */
export interface Change {
  /** Above 0 it lets more be said, seen or done. */
  readonly by: number
  readonly line: string
}

/** Compares a setting whose values are given from the narrowest to the widest. */
export function compareRanked<Value extends string | number | boolean>(
  path: string,
  values: readonly Value[],
  { before, after }: { readonly before: Value; readonly after: Value },
): Change[] {
  if (before === after) return []
  return [{ by: values.indexOf(after) - values.indexOf(before), line: `${path}: ${after} (was ${before})` }]
}

/** The changes, and each of them the other way round as well if `also`. */
export function bothWays(changes: readonly Change[], also: boolean): Change[] {
  return changes.flatMap((change) => (also ? [change, { ...change, by: -change.by }] : [change]))
}

/** How names of senders are read. */
interface KnownSenders {
  readonly channels: Channels
  /** Knows the people of both configurations. */
  isPerson(sender: string): boolean
}

/** Where a rule applies, and the places at which two lists of rules have to be compared. */
export interface Site extends PlaceConstraint {
  readonly senders: readonly string[]
  readonly mentioned: boolean | undefined
}

/** One rule of a list with the site it is about; the first one whose site holds a place decides there. */
export interface Sited<Rule> {
  readonly site: Site
  readonly rule: Rule
}

const FIELDS = ['channel', 'account', 'space', 'spaceType', 'chatType', 'chat', 'topic', 'mentioned'] as const
const ANYWHERE: Site = { ...ANY_PLACE, senders: [], mentioned: undefined }

export function siteOfGroup(rule: GroupRule, channels: Channels): Sited<GroupRule> {
  return { rule, site: { ...ANYWHERE, ...asWritten(compilePlace(rule.match, 'routing.access.groups', channels)) } }
}

export function siteOfDispatch(rule: DispatchRule, channels: Channels): Sited<DispatchRule> {
  const { sender, mentioned } = rule.match
  const senders = [normalised(sender) ?? []].flat()
  return { rule, site: { ...asWritten(compilePlace(rule.match, 'routing.dispatch', channels)), senders, mentioned } }
}

/** Where the case of an id may count, another case is another place: better a change too many is told than one too few. */
function asWritten(place: PlaceConstraint): PlaceConstraint {
  return { ...place, ...place.written }
}

/**
 * Returns every place at which the answers of two lists can differ: the first rule that holds a place decides, so what
 * decides can only differ where a rule of the one list and a rule of the other (or none) decide. What holds where two of
 * them meet holds wherever these two decide. Without `known` no rule is about senders.
 */
export function sitesToCompare(
  before: readonly Sited<unknown>[],
  after: readonly Sited<unknown>[],
  known?: KnownSenders,
): readonly Site[] {
  const [was, is] = [before.map(({ site }) => site), after.map(({ site }) => site)]
  const met = was.flatMap((one) => is.flatMap((other) => meet(one, other, known) ?? []))
  return [ANYWHERE, ...was, ...is, ...met]
}

/** The rule that decides at a site of `sitesToCompare`. */
export function ruleAt<Rule>(rules: readonly Sited<Rule>[], at: Site): Rule | undefined {
  return rules.find(({ site }) => holds(site, at))?.rule
}

function holds(site: Site, at: Site): boolean {
  return (
    FIELDS.every((field) => allows<unknown>(site[field], at[field])) &&
    site.senders.every((sender) => at.senders.includes(sender))
  )
}

/** The places both hold; undefined if there are none. */
function meet(one: Site, other: Site, known: KnownSenders | undefined): Site | undefined {
  const clash = FIELDS.some(
    (field) => one[field] !== undefined && other[field] !== undefined && one[field] !== other[field],
  )
  const senders = [...new Set([...one.senders, ...other.senders])]
  if (clash || (known !== undefined && !mayBeOne(senders, known))) return undefined
  const set = Object.fromEntries(FIELDS.map((field) => [field, one[field] ?? other[field]]))
  return { ...ANYWHERE, ...set, senders }
}

/** Whether one sender may have both of these names: people of the store are not known here, nor which ids they have. */
function mayBeOne([one, other]: readonly string[], { isPerson, channels }: KnownSenders): boolean {
  if (one === undefined || other === undefined) return true
  if (isPerson(one) && isPerson(other)) return false
  const [left, right] = [parseLink(channels, one), parseLink(channels, other)]
  return isId(left) && isId(right) ? left.id === right.id && overlaps(left, right) : true
}

function isId({ channel, team, id }: Link): boolean {
  return channel !== undefined || team !== undefined || /^-?\d+$/.test(id)
}

export function describeSite(site: Site, otherwise: string): string {
  const set = FIELDS.filter((field) => site[field] !== undefined).map((field) => `${field} ${site[field]}`)
  return [...set, ...site.senders.map((sender) => `sender ${sender}`)].join(', ') || otherwise
}
