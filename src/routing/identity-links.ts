import type { Identity, TraceStep } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import { CHANNEL_IDS, type ChannelId, type PersonId } from '../core/ids.ts'
import { isShared, platformIdOf } from '../core/platform-id.ts'
import type { PersonPolicy } from '../core/policy.ts'
import type { Role } from '../core/session.ts'
import { normalised, type SenderIds } from './match-facts.ts'
import { push } from './rule-index.ts'
import { pass } from './trace.ts'

/** One id of a person: `<channel>:<id>`, a bare `<id>`, or with a team `slack:<team>/<id>`. Unset restricts nothing. */
export interface Link {
  readonly channel: ChannelId | undefined
  readonly team: string | undefined
  readonly id: string
}

export interface PersonLink extends Link {
  readonly identity: Identity
  /** What the trace says of whoever is found by this link. */
  readonly step: TraceStep
  /** Where the link stands in the configuration. */
  readonly path: string
}

/** The people of the configuration. Links are filed by their id part, so that finding one builds no text. */
export interface People {
  readonly roles: ReadonlyMap<PersonId, Role>
  readonly links: ReadonlyMap<string, readonly PersonLink[]>
}

/** Throws `config` where two people claim one id (K16) or one name is given twice; warns of links that match widely. */
export function compilePeople(policy: readonly PersonPolicy[]): { people: People; warnings: string[] } {
  const roles = new Map<PersonId, Role>()
  const links = new Map<string, PersonLink[]>()
  const warnings: string[] = []
  for (const { id, role, ids } of policy) {
    if (roles.has(id)) throw new ParleyError('config', `people.${id} is given twice; names are compared without case`)
    roles.set(id, role)
    const identity: Identity = { person: id, role }
    for (const [index, text] of ids.entries()) {
      const path = `people.${id}.ids[${index}]`
      const step = pass('identity', `${role} ${id} by ${text.trim()}`, path)
      const link: PersonLink = { ...parseLink(text), identity, step, path }
      refuseEmpty(link)
      refuseClaimed(link, links.get(link.id))
      warnings.push(...warningsOf(link, text))
      push(links, link.id, link)
    }
  }
  return { people: { roles, links }, warnings }
}

/** Reads a link. A prefix that is no channel belongs to the id; a team is read on Slack and in bare links only. */
export function parseLink(text: string): Link {
  const whole = text.trim().toLowerCase()
  const channel = CHANNEL_IDS.find((id) => whole.startsWith(`${id}:`))
  const id = channel === undefined ? whole : whole.slice(channel.length + 1).trim()
  const inTeam = channel === undefined || channel === 'slack' ? /^([^/]+)\/([^/]+)$/.exec(id) : null
  return { channel, team: inTeam?.[1], id: inTeam?.[2] ?? id }
}

/** The link names this sender. */
export function matchesLink(link: Link, sender: SenderIds, channel: string): boolean {
  return link.id === sender.senderId && reaches(link, sender, channel)
}

/** Where a link names a channel or a team, they must be right too: the id alone is another person's there (H04). */
function reaches(link: Link, { senderTeam }: SenderIds, channel: string): boolean {
  return (
    (link.channel === undefined || link.channel === channel) && (link.team === undefined || link.team === senderTeam)
  )
}

/** The platform ids of a person, as participants are written. A bare id counts on every channel (K15). */
export function configuredIds({ links }: People, person: PersonId): readonly string[] {
  return [...links.values()].flat().flatMap(({ identity, channel, team, id }) => {
    if (identity.person !== person) return []
    return (channel === undefined ? CHANNEL_IDS : [channel]).map((one) =>
      platformIdOf(one, { id, ...(team && { team }) }),
    )
  })
}

/** The link that names the configured person behind a sender: by id, never by name. */
export function findLink(
  people: People,
  sender: SenderIds & { readonly senderId: string },
  channel: ChannelId,
): PersonLink | undefined {
  return people.links.get(sender.senderId)?.find((link) => reaches(link, sender, channel))
}

/** Ids that the store gives to one person and the configuration to another, which wins: a sentence for each. */
export function linkConflicts(people: People, stored: readonly { id: PersonId; ids: readonly string[] }[]): string[] {
  return stored.flatMap(({ id: holder, ids }) =>
    ids.flatMap((text) => {
      const { channel, team, id } = parseLink(text)
      const link = channel && findLink(people, { senderId: id, senderTeam: team }, channel)
      if (!link || link.identity.person === holder) return []
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

/** Whether two links of one id may name one sender. */
export function overlaps(one: Link, other: Link): boolean {
  return overlap(one.channel, other.channel) && overlap(one.team, other.team)
}

function overlap(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b
}

function warningsOf({ channel, team, id, path }: PersonLink, text: string): string[] {
  const warnings: string[] = []
  if (channel === undefined) warnings.push(`${path}: "${text}" matches on every channel; write <channel>:<id>`)
  if (channel === 'slack' && team === undefined) {
    warnings.push(`${path}: "${text}" matches in every workspace; write slack:<team>/<id>`)
  }
  if (isShared(channel ?? 'telegram', id)) {
    warnings.push(`${path}: "${text}" is shared by many people on Telegram and identifies nobody there`)
  }
  return warnings
}
