import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch, Identity, ReplyTarget } from '../../core/dispatch.ts'
import type { ChannelId } from '../../core/ids.ts'
import type { AskerId } from '../../core/outbound.ts'
import { platformIdOf } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'

export interface ChatOwners {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
  /** Returns true if the main session is everybody's (`scope: global`), not the owner's. */
  mainIsShared(this: void): boolean
}

/** The fields of a session that say whose it is. */
type Owned = Pick<SessionDraft, 'scope' | 'kind'>

/**
 * Returns true if a session is not that of somebody who asked in it any more, e.g. after `/unlink`: a session that
 * follows people over several chats would say in one of them what was said in the others.
 */
export function isParted(
  { scope, kind }: Owned,
  { channel, asker }: { readonly channel: ChannelId; readonly asker: AskerId | undefined },
  { channels, whoIs, mainIsShared }: ChatOwners,
): boolean {
  if (asker === undefined || !followsPeople({ scope })) return false
  const platformId = platformIdOf(channels, channel, asker)
  const { person, role } = whoIs(platformId)
  if (kind === 'main') return role !== 'owner' && !mainIsShared()
  const own = scope.values.sender?.toLowerCase()
  const names = [person, platformId.slice(channel.length + 1), asker.id]
  return own !== undefined && !names.some((name) => name?.toLowerCase() === own)
}

/** Returns true if the chat by which a session was last entered is not its person's any more. */
export function isPartedChat(session: SessionDraft, owners: ChatOwners): boolean {
  const { channel } = session.metadata
  return channel !== undefined && isParted(session, { channel, asker: lastAsker(session) }, owners)
}

/** Returns where the answer to a message goes, with the reader whose session that has to be by then. */
export function replyTargetOf({ reply, origin, event: { sender } }: Dispatch, session: Owned): ReplyTarget {
  if (origin !== 'platform' || !followsPeople(session)) return reply
  return { ...reply, asker: askerOf(sender) }
}

/**
 * Returns the reader of the direct chat by which a session was last entered; undefined where it has a chat of its own.
 */
export function lastAsker({ scope, metadata }: SessionDraft): AskerId | undefined {
  const { chat_type: chatType, sender_id: id, space } = metadata
  if (!followsPeople({ scope }) || chatType !== 'direct' || id === undefined) return undefined
  // The team of the chat is that of its ids, where ids belong to one.
  const [, team] = /^team:(.+)$/.exec(space ?? '') ?? []
  return team === undefined ? { id } : { id, team }
}

export function askerOf({ id, team }: AskerId): AskerId {
  return team === undefined ? { id } : { id, team }
}

/** A session of one chat is that of whoever is in it. */
function followsPeople({ scope }: Pick<Owned, 'scope'>): boolean {
  return scope.values.chat === undefined
}
