import type { Channels } from '../../core/channel-traits.ts'
import { type Decision, type Dispatch, type Identity, isStill, type ReplyTarget } from '../../core/dispatch.ts'
import type { ChannelId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import type { Reader } from '../../core/outbound.ts'
import { type AuthorId, platformIdOf } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'

export interface ChatOwners {
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
  /** Returns true if the main session is everybody's (`scope: global`), not the owner's. */
  mainIsShared(this: void): boolean
}

type Traits = Pick<Channels, 'traits'>

/** The fields of a session that say whose it is. */
type Owned = Pick<SessionDraft, 'scope' | 'kind'>

/**
 * Returns true if somebody may not read any more what was meant for them: they are another person by now, have lost the
 * role of an owner, or the session it is from is not theirs, e.g. after `/unlink`. A session that follows people over
 * several chats would say in one of them what was said in the others.
 */
export function isParted(
  session: Owned | undefined,
  reader: Reader | undefined,
  { whoIs, mainIsShared }: ChatOwners,
): boolean {
  if (reader === undefined) return false
  const { platformId } = reader
  const now = whoIs(platformId)
  const { person, role } = now
  if ((reader.person !== undefined && !isStill(reader.person, now)) || (reader.owner && role !== 'owner')) return true
  if (session === undefined || !followsPeople(session)) return false
  if (session.kind === 'main') return role !== 'owner' && !mainIsShared()
  const own = session.scope.values.sender?.toLowerCase()
  const id = platformId.slice(platformId.indexOf(':') + 1)
  return own !== undefined && ![person, id, id.split('/').at(-1)].some((name) => name?.toLowerCase() === own)
}

/** Returns true if the chat by which a session was last entered is not its person's any more. */
export function isPartedChat(session: SessionDraft, channels: Traits, owners: ChatOwners): boolean {
  return isParted(session, lastReader(session, channels), owners)
}

/**
 * Returns true for a name by which a session was known as the direct chat of an id that is another person's by now: it
 * would bring that person's texts into somebody else's conversation.
 */
export function isFormerName(name: string, session: SessionDraft, owners: ChatOwners): boolean {
  const [, before = '', peer] = /^(.*?)(?:^|:)direct:(.+)$/i.exec(name.trim()) ?? []
  if (peer === undefined) return false
  const channels = [...before.split(/[:@]/), session.metadata.channel ?? '']
  const ids = [...channels.map((channel) => `${channel}:${peer}`), peer].map((id) => id.toLowerCase())
  return ids.some((platformId) => {
    const known = owners.whoIs(platformId).person !== undefined
    return known && isParted(session, { platformId }, owners)
  })
}

/**
 * Returns where the answer to a message goes, with its reader where that is one person: in a direct chat, and in a
 * session that follows people.
 */
export function replyTargetOf(
  { dispatch, decision }: { readonly dispatch: Dispatch; readonly decision: Pick<Decision, 'identity'> },
  session: Owned,
  channels: Traits,
): ReplyTarget {
  const { reply, origin, event } = dispatch
  if (origin !== 'platform' || event.sender.kind === 'bot') return reply
  if (reply.address.chatType !== 'direct' && !followsPeople(session)) return reply
  return { ...reply, reader: readerOf(channels, event.address.channel, event.sender, decision.identity) }
}

/** Returns the reader of the chat by which a session was last entered; undefined where it has a chat of its own. */
export function lastReader(session: SessionDraft, channels: Traits): Reader | undefined {
  const platformId = followsPeople(session) ? lastSender(session, channels) : undefined
  return platformId === undefined ? undefined : { platformId }
}

/**
 * Returns who wrote last in the direct chats of a session, on the platform itself; undefined where nobody did, or their
 * id is not known beforehand.
 */
export function lastSender({ metadata }: Pick<SessionDraft, 'metadata'>, channels: Traits): AuthorId | undefined {
  const { channel, sender_id: id, sender_team: ownTeam, space } = metadata
  if (channel === undefined || id === undefined) return undefined
  // The team of the chat is that of most ids in it, where ids belong to one.
  const team = ownTeam ?? /^team:(.+)$/.exec(space ?? '')?.[1]
  return platformIdOf(channels, channel as ChannelId, team === undefined ? { id } : { id, team })
}

/** Returns somebody as they are now, for what is meant for them alone. */
export function readerOf(
  channels: Traits,
  channel: ChannelId,
  sender: Pick<Sender, 'id' | 'team'>,
  { person, role }: Identity,
): Reader {
  const platformId = platformIdOf(channels, channel, sender)
  return {
    platformId,
    ...(person === undefined ? {} : { person }),
    ...(role === 'owner' ? { owner: true as const } : {}),
  }
}

/** A session of one chat is that of whoever is in it. */
function followsPeople({ scope }: Pick<Owned, 'scope'>): boolean {
  return scope.values.chat === undefined
}
