import type { DispatchRule, GroupRule } from '../core/policy.ts'
import { type Link, overlaps, parseLink } from './identity-links.ts'
import { normalised } from './match-facts.ts'
import { allows, compilePlace, type PlaceConstraint } from './place-match.ts'

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
const ANYWHERE: Site = { ...compilePlace({}, ''), senders: [], mentioned: undefined }

export function siteOfGroup(rule: GroupRule): Sited<GroupRule> {
  return { rule, site: { ...ANYWHERE, ...compilePlace(rule.match, 'routing.access.groups') } }
}

export function siteOfDispatch(rule: DispatchRule): Sited<DispatchRule> {
  const { sender, mentioned } = rule.match
  const senders = [normalised(sender) ?? []].flat()
  return { rule, site: { ...compilePlace(rule.match, 'routing.dispatch'), senders, mentioned } }
}

/**
 * Returns every place at which the answers of two lists can differ: the first rule that holds a place decides, so what
 * decides can only differ where a rule of the one list and a rule of the other (or none) decide. What holds where two of
 * them meet holds wherever these two decide. `isPerson` knows the people of both configurations.
 */
export function sitesToCompare(
  before: readonly Sited<unknown>[],
  after: readonly Sited<unknown>[],
  isPerson: (sender: string) => boolean = () => false,
): readonly Site[] {
  const [was, is] = [before.map(({ site }) => site), after.map(({ site }) => site)]
  const met = was.flatMap((one) => is.flatMap((other) => meet(one, other, isPerson) ?? []))
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
function meet(one: Site, other: Site, isPerson: (sender: string) => boolean): Site | undefined {
  const clash = FIELDS.some(
    (field) => one[field] !== undefined && other[field] !== undefined && one[field] !== other[field],
  )
  const senders = [...new Set([...one.senders, ...other.senders])]
  if (clash || !mayBeOne(senders, isPerson)) return undefined
  const set = Object.fromEntries(FIELDS.map((field) => [field, one[field] ?? other[field]]))
  return { ...ANYWHERE, ...set, senders }
}

/** Whether one sender may have both of these names: people of the store are not known here, nor which ids they have. */
function mayBeOne([one, other]: readonly string[], isPerson: (sender: string) => boolean): boolean {
  if (one === undefined || other === undefined) return true
  if (isPerson(one) && isPerson(other)) return false
  const [left, right] = [parseLink(one), parseLink(other)]
  return isId(left) && isId(right) ? left.id === right.id && overlaps(left, right) : true
}

function isId({ channel, team, id }: Link): boolean {
  return channel !== undefined || team !== undefined || /^-?\d+$/.test(id)
}

export function describeSite(site: Site, otherwise: string): string {
  const set = FIELDS.filter((field) => site[field] !== undefined).map((field) => `${field} ${site[field]}`)
  return [...set, ...site.senders.map((sender) => `sender ${sender}`)].join(', ') || otherwise
}
