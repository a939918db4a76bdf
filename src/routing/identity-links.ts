import { type Channels, foldId } from '../core/channel-traits.ts'
import type { Identity, TraceStep } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import { type ChannelId, CLAIMED_OWNER, type PersonId } from '../core/ids.ts'
import { foldPlatformId, isShared, platformIdOf } from '../core/platform-id.ts'
import type { PersonPolicy } from '../core/policy.ts'
import type { Role } from '../core/session.ts'
import { normalised, type PlaceFacts, type SenderIds } from './match-facts.ts'
import { push } from './rule-index.ts'
import { pass } from './trace.ts'

/** One id of a person: `<channel>:<id>`, a bare `<id>`, or with a team `slack:<team>/<id>`. Unset restricts nothing. */
export interface Link {
  readonly channel: ChannelId | undefined
  readonly team: string | undefined
  readonly id: string
  /** A bare id as it is written, for channels on which that makes a difference; undefined where it makes none. */
  readonly written: string | undefined
}

export interface PersonLink extends Link {
  readonly identity: Identity
  /** The trace step for a sender found by this link. */
  readonly step: TraceStep
  /** The path of the link in the configuration. */
  readonly path: string
}

/** The people of the configuration. Links are filed by their id part, so that finding one builds no text. */
export interface ConfiguredPeople {
  readonly channels: Channels
  readonly roles: ReadonlyMap<PersonId, Role>
  readonly links: ReadonlyMap<string, readonly PersonLink[]>
  /** The platform ids of each, as participants are written. A bare id counts on every channel (K15). */
  readonly ids: ReadonlyMap<PersonId, readonly string[]>
}

/** Throws `config` where two people claim one id (K16) or one name is given twice; warns of links that match widely. */
export function compilePeople(
  policy: readonly PersonPolicy[],
  channels: Channels,
): { people: ConfiguredPeople; warnings: string[] } {
  const roles = new Map<PersonId, Role>()
  const links = new Map<string, PersonLink[]>()
  const warnings: string[] = []
  for (const { id, role, ids } of policy) {
    if (roles.has(id)) throw new ParleyError('config', `people.${id} is given twice; names are compared without case`)
    roles.set(id, role)
    if (role === 'owner' && ids.length === 0) warnings.push(ownerWithoutIds(id))
    const identity: Identity = { person: id, role }
    for (const [index, text] of ids.entries()) {
      const path = `people.${id}.ids[${index}]`
      const step = pass('identity', `${role} ${id} by ${text.trim()}`, path)
      const link: PersonLink = { ...parseLink(channels, text), identity, step, path }
      refuseEmpty(link)
      for (const key of idKeys(link)) refuseClaimed(link, links.get(key))
      warnings.push(...warningsOf(channels, link, text))
      for (const key of idKeys(link)) push(links, key, link)
    }
  }
  return { people: { channels, roles, links, ids: idsIn(links, channels) }, warnings }
}

/** Reads a link. A prefix that is no channel belongs to the id; a team is read where ids have one and in bare links. */
export function parseLink(channels: Channels, text: string): Link {
  const whole = text.trim()
  const lower = whole.toLowerCase()
  const channel = channels.ids.find((id) => lower.startsWith(`${id}:`))
  if (channel === undefined) {
    const bare = inTeam(lower)
    const written = channels.caseSensitive.length > 0 && whole !== lower ? whole : undefined
    return { channel, ...bare, written }
  }
  const { ids } = channels.traits(channel)
  const id = foldId(ids, whole.slice(channel.length + 1))
  return { channel, ...(ids.ofTeams ? inTeam(id) : { team: undefined, id }), written: undefined }
}

function inTeam(id: string): Pick<Link, 'team' | 'id'> {
  const [, team, own] = /^([^/]+)\/([^/]+)$/.exec(id) ?? []
  return { team, id: own ?? id }
}

/** A link as two configurations compare it: in its own case where that may count. */
export function writtenLink(channels: Channels, text: string): string {
  return parseLink(channels, text).written ?? foldPlatformId(channels, text)
}

/** The ids under which whoever a link names may be looked for. */
export function idKeys({ id, written }: Link): readonly string[] {
  return written === undefined ? [id] : [id, written]
}

/** A sender on a channel, whom a link may name. */
export type SenderAt = SenderIds & Pick<PlaceFacts, 'channel' | 'traits'>

/** The link names this sender. */
export function matchesLink(link: Link, { senderId, senderTeam, channel, traits }: SenderAt): boolean {
  const id = link.written !== undefined && traits.ids.caseSensitive ? link.written : link.id
  return id === senderId && reaches(link, senderTeam, channel)
}

/** A channel or a team in the link must match too: there the same id is another person's (F-H04). */
function reaches(link: Link, senderTeam: string | undefined, channel: string): boolean {
  return (
    (link.channel === undefined || link.channel === channel) && (link.team === undefined || link.team === senderTeam)
  )
}

/** Returns the platform ids of everybody in one walk: each person's are asked for at every call of a tool. */
function idsIn(filed: ReadonlyMap<string, readonly PersonLink[]>, channels: Channels): ConfiguredPeople['ids'] {
  const ids = new Map<PersonId, Set<string>>()
  for (const link of [...filed.values()].flat()) {
    const { person } = link.identity
    if (person === undefined) continue
    const own = ids.get(person) ?? new Set()
    ids.set(person, own)
    for (const id of platformIdsOf(channels, link)) own.add(id)
  }
  return new Map([...ids].map(([person, own]) => [person, [...own]]))
}

function platformIdsOf(channels: Channels, { channel, team, id, written = id }: PersonLink): readonly string[] {
  return (channel === undefined ? channels.ids : [channel]).map((one) => {
    const own = channels.traits(one).ids.caseSensitive ? written : id
    return platformIdOf(channels, one, { id: own, ...(team && { team }) })
  })
}

/** The link that names the configured person behind a sender: by id, never by name. */
export function findLink(
  people: ConfiguredPeople,
  sender: SenderIds & { readonly senderId: string },
  channel: ChannelId,
): PersonLink | undefined {
  const links = people.links.get(sender.senderId)
  if (links === undefined) return undefined
  const { caseSensitive } = people.channels.traits(channel).ids
  // Filed under the id, so only a bare link's own case is left to compare: copying the facts for it doubled a decision.
  return links.find(
    (link) =>
      (link.written === undefined || (caseSensitive ? link.written : link.id) === sender.senderId) &&
      reaches(link, sender.senderTeam, channel),
  )
}

/** Ids that the store gives to one person and the configuration to another, which wins: a sentence for each. */
export function linkConflicts(
  people: ConfiguredPeople,
  stored: readonly { id: PersonId; ids: readonly string[] }[],
): string[] {
  return stored.flatMap(({ id: holder, ids }) =>
    ids.flatMap((text) => {
      const { channel, team, id } = parseLink(people.channels, text)
      const link = channel && findLink(people, { senderId: id, senderTeam: team }, channel)
      // Whoever claimed the agent before the file named its owner is the owner either way.
      if (!link || link.identity.person === holder) return []
      if (link.identity.role === 'owner' && holder === CLAIMED_OWNER) return []
      return [
        `${link.path}: ${text} is linked to ${holder} too; the configuration wins until "parley people unlink ${text}"`,
      ]
    }),
  )
}

function refuseEmpty({ id, path }: PersonLink): void {
  if (normalised(id) === undefined) throw new ParleyError('config', `${path} is empty; write <channel>:<id>`)
}

function refuseClaimed(link: PersonLink, others: readonly PersonLink[] = []): void {
  const other = others.find((claimed) => claimed.identity.person !== link.identity.person && overlaps(claimed, link))
  if (other) {
    throw new ParleyError(
      'config',
      `${link.path} claims an id that ${other.path} claims too; give it to one person only`,
    )
  }
}

/** Returns true if two links may name one sender. */
export function mayNameOne(one: Link, other: Link): boolean {
  const keys = idKeys(other)
  return idKeys(one).some((key) => keys.includes(key)) && overlaps(one, other)
}

/** Returns true if two links of one id may name one sender. */
export function overlaps(one: Link, other: Link): boolean {
  return overlap(one.channel, other.channel) && overlap(one.team, other.team)
}

function overlap(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b
}

/** No claim link is given where an owner is named, so that nobody would be it. */
function ownerWithoutIds(id: PersonId): string {
  return `people.${id}: this owner has no ids; write what /whoami says under ids, or run parley people link ${id} <channel>:<id>`
}

function warningsOf(channels: Channels, { channel, team, id, path }: PersonLink, text: string): string[] {
  const warnings: string[] = []
  if (channel === undefined && id.includes(':')) {
    warnings.push(`${path}: "${text}" begins with no channel there is; write <channel>:<id>`)
  } else if (channel === undefined) {
    const name = id.startsWith('@')
    warnings.push(
      name
        ? `${path}: "${text}" is a name and no id, so it matches nobody; write <channel>:<id> as /whoami says it`
        : `${path}: "${text}" matches on every channel; write <channel>:<id>`,
    )
  }
  if (channel !== undefined && team === undefined && channels.traits(channel).ids.ofTeams) {
    warnings.push(`${path}: "${text}" matches in every workspace; write ${channel}:<team>/<id>`)
  }
  for (const { name, ids } of (channel === undefined ? channels.platforms : [channel]).map(channels.traits)) {
    if (isShared(ids, id))
      warnings.push(`${path}: "${text}" is shared by many people on ${name} and identifies nobody there`)
  }
  return warnings
}
