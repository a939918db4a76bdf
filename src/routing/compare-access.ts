import type { Audience, GroupRule, PersonPolicy, RoutingPolicy, SendPolicy } from '../core/policy.ts'
import type { Role } from '../core/session.ts'
import { allows, compilePlace, type PlaceConstraint } from './place-match.ts'

/** What a changed policy does to who may talk, a sentence a line. Nothing gets wider that is not in `wider` (H14). */
export interface AccessChanges {
  readonly wider: readonly string[]
  readonly narrower: readonly string[]
  /** Changed, but neither lets anybody in nor keeps anybody out. */
  readonly other: readonly string[]
}

interface Change {
  /** Above 0 it lets more in. */
  readonly by: number
  readonly line: string
}

export function compareAccess(before: RoutingPolicy, after: RoutingPolicy): AccessChanges {
  const changes = [
    ...comparePeople(before.people, after.people),
    ...compareAudience('routing.access.direct', before.access.direct, after.access.direct),
    ...compareGroups(before.access.groups, after.access.groups),
    ...compareBots(before.access.groups, after.access.groups),
    ...compareSending(before.sendPolicy, after.sendPolicy),
  ]
  return {
    wider: linesOf(changes, ({ by }) => by > 0),
    narrower: linesOf(changes, ({ by }) => by < 0),
    other: otherChanges(before, after),
  }
}

function linesOf(changes: readonly Change[], wanted: (change: Change) => boolean): string[] {
  return [...new Set(changes.filter(wanted).map(({ line }) => line))]
}

const ROLES: Readonly<Record<Role, number>> = { guest: 0, member: 1, owner: 2 }
const AUDIENCES: Readonly<Record<Audience, number>> = { owner: 0, allowlist: 1, public: 2 }

/** By person, because linked ids have the role of theirs, and by id. */
function comparePeople(before: readonly PersonPolicy[], after: readonly PersonPolicy[]): Change[] {
  const [was, is] = [rolesOf(before), rolesOf(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [from, to] = [was.get(name) ?? 'guest', is.get(name) ?? 'guest']
    return from === to ? [] : [{ by: ROLES[to] - ROLES[from], line: `people: ${name}: ${to} (was ${from})` }]
  })
}

function rolesOf(people: readonly PersonPolicy[]): ReadonlyMap<string, Role> {
  return new Map(
    people.flatMap(({ id, role, ids }) => [
      [`${id}`, role] as const,
      ...ids.map((one) => [`id ${one.trim().toLowerCase()}`, role] as const),
    ]),
  )
}

function compareAudience(where: string, before: Audience, after: Audience): Change[] {
  if (before === after) return []
  return [{ by: AUDIENCES[after] - AUDIENCES[before], line: `${where}: ${after} (was ${before})` }]
}

interface Rule {
  readonly place: PlaceConstraint
  readonly who: Audience
}

/**
 * The first rule that matches decides, so the audience of a place can only differ where a rule of the one list and a rule
 * of the other (or none) decide: comparing what holds where two rules meet finds every difference there is.
 */
function compareGroups(before: readonly GroupRule[], after: readonly GroupRule[]): Change[] {
  const [was, is] = [before.map(compile), after.map(compile)]
  const places = [ANYWHERE, ...was.map(({ place }) => place), ...is.map(({ place }) => place)]
  const met = was.flatMap((one) => is.flatMap((other) => meet(one.place, other.place) ?? []))
  return [...places, ...met].flatMap((place) =>
    compareAudience(`routing.access.groups: ${describePlace(place)}`, audienceAt(was, place), audienceAt(is, place)),
  )
}

const ANYWHERE: PlaceConstraint = compilePlace({}, '')
const FIELDS = ['channel', 'account', 'space', 'spaceType', 'chatType', 'chat', 'topic'] as const

function compile({ match, who }: GroupRule): Rule {
  return { place: compilePlace(match, 'routing.access.groups'), who }
}

function audienceAt(rules: readonly Rule[], place: PlaceConstraint): Audience {
  const first = rules.find((rule) => FIELDS.every((field) => allows<unknown>(rule.place[field], place[field])))
  return first?.who ?? 'owner'
}

/** The places both match; undefined if there are none. */
function meet(one: PlaceConstraint, other: PlaceConstraint): PlaceConstraint | undefined {
  const clash = FIELDS.some(
    (field) => one[field] !== undefined && other[field] !== undefined && one[field] !== other[field],
  )
  if (clash) return undefined
  const set = Object.fromEntries(FIELDS.map((field) => [field, one[field] ?? other[field]]))
  return { ...ANYWHERE, ...set }
}

function describePlace(place: PlaceConstraint): string {
  const set = FIELDS.filter((field) => place[field] !== undefined).map((field) => `${field} ${place[field]}`)
  return set.join(', ') || 'any other group'
}

/** A bot that is heard somewhere, or heard there in another way. */
function compareBots(before: readonly GroupRule[], after: readonly GroupRule[]): Change[] {
  const [was, is] = [botLines(before), botLines(after)]
  const gone = was.filter((line) => !is.includes(line)).map((line) => ({ by: -1, line: `${line}: taken out` }))
  return [...gone, ...is.filter((line) => !was.includes(line)).map((line) => ({ by: 1, line: `${line}: added` }))]
}

function botLines(rules: readonly GroupRule[]): readonly string[] {
  return rules.flatMap((rule) => {
    const { bots = 'ignore', botIds = [] } = rule
    const where = describePlace(compile(rule).place)
    return bots === 'ignore' ? [] : botIds.map((id) => `routing.access.groups: ${where}: bot ${id} (${bots})`)
  })
}

/** Fewer denials or more permissions let more be sent. */
function compareSending(before: SendPolicy, after: SendPolicy): Change[] {
  const [was, is] = [sendRules(before), sendRules(after)]
  const gone = was
    .filter((rule) => !is.includes(rule))
    .map((rule) => ({ by: weight(rule) * -1, line: `${rule}: taken out` }))
  const added = is.filter((rule) => !was.includes(rule)).map((rule) => ({ by: weight(rule), line: `${rule}: added` }))
  return [...gone, ...added]
}

function sendRules({ rules, default: byDefault }: SendPolicy): readonly string[] {
  const listed = rules.map(({ match, action }) => `session.sendPolicy: ${action ?? 'allow'} ${JSON.stringify(match)}`)
  return [...listed, `session.sendPolicy: ${byDefault} by default`]
}

function weight(rule: string): number {
  return rule.startsWith('session.sendPolicy: allow') ? 1 : -1
}

const OTHER = [
  'ownerAlwaysTriggers',
  'wakeWords',
  'edits',
  'deletions',
  'botBudget',
  'dispatch',
  'scope',
  'dimensions',
  'channelDimensions',
  'direct',
] as const

function otherChanges(before: RoutingPolicy, after: RoutingPolicy): string[] {
  const settings = OTHER.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  const rest = ({ access: { groups } }: RoutingPolicy) => JSON.stringify(groups.map(({ who: _who, ...rule }) => rule))
  const triggers = rest(before) === rest(after) ? [] : ['routing.access.groups: changed']
  return [...triggers, ...settings.map((key) => `${key}: changed`)]
}
