import type { Dispatch, Identity, PostedText, ScheduledRun, TraceStep } from '../core/dispatch.ts'
import { isShared } from '../core/platform-id.ts'
import { type ConfiguredPeople, findLink, parseLink } from './identity-links.ts'
import type { SenderIds } from './match-facts.ts'
import type { RouteFacts } from './route-facts.ts'
import { pass } from './trace.ts'

/** Nobody we know. */
export const GUEST: Identity = { role: 'guest' }

export const SHARED_ID = pass('identity', 'an id that stands for no single person')

/**
 * Identifies the sender of a dispatch by id alone, because names are text. A sender that is no single user has neither
 * person nor role, whatever the lists say. The operator's entrance is guarded by the state folder's file mode and
 * carries the owner's authority, a schedule carries that of its creator, a text posted into a session that of its
 * poster.
 */
export function identify(
  people: ConfiguredPeople,
  facts: Pick<RouteFacts, 'personOf'>,
  { dispatch, ids }: { readonly dispatch: Dispatch; readonly ids: SenderIds },
): { readonly identity: Identity; readonly step: TraceStep } {
  if (dispatch.schedule) return creatorOf(dispatch.schedule)
  if (dispatch.posted) return askerOf(dispatch.posted)
  const { sender, address } = dispatch.event
  const { senderId, senderTeam } = ids
  if (
    sender.kind !== 'user' ||
    senderId === undefined ||
    isShared(people.channels.traits(address.channel).ids, senderId)
  ) {
    return { identity: GUEST, step: SHARED_ID }
  }
  const link = findLink(people, { senderId, senderTeam }, address.channel)
  if (link && dispatch.origin !== 'operator') return link
  const found = link?.identity ?? storedPerson(people, facts.personOf(address.channel, sender.id, sender.team)) ?? GUEST
  const identity: Identity = dispatch.origin === 'operator' ? { ...found, role: 'owner' } : found
  return { identity, step: pass('identity', `${describe(identity)} by ${address.channel}:${sender.id}`) }
}

/** Returns the identity that an id, written as in `core/platform-id.ts`, has now. */
export function personBehind(
  people: ConfiguredPeople,
  facts: Pick<RouteFacts, 'personOf'>,
  platformId: string,
): Identity {
  const { channel, team, id } = parseLink(people.channels, platformId)
  if (channel === undefined || isShared(people.channels.traits(channel).ids, id)) return GUEST
  const link = findLink(people, { senderId: id, senderTeam: team }, channel)
  return link?.identity ?? storedPerson(people, facts.personOf(channel, id, team)) ?? GUEST
}

function creatorOf({ creator }: ScheduledRun): { readonly identity: Identity; readonly step: TraceStep } {
  return { identity: creator, step: pass('identity', `${describe(creator)}, who made the schedule`) }
}

function askerOf({ identity }: PostedText): { readonly identity: Identity; readonly step: TraceStep } {
  return { identity, step: pass('identity', `${describe(identity)}, whose turn or client asks`) }
}

/** `owner ada`, `member bob`, `guest`. */
export function describe({ role, person }: Identity): string {
  return person === undefined ? role : `${role} ${person}`
}

/** A person the configuration names has the configured role, also when the store linked the id. */
function storedPerson(people: ConfiguredPeople, stored: Identity | undefined): Identity | undefined {
  if (stored?.person === undefined) return undefined
  const role = people.roles.get(stored.person)
  return role === undefined ? stored : { person: stored.person, role }
}
