import type { Channels } from './channel-traits.ts'
import { isShared } from './platform-id.ts'
import type { Session } from './session.ts'

/**
 * Returns true for a session that joins people of different chats: neither a chat nor a single person sets it apart, as
 * with the main session. An id that stands for many people sets nobody apart.
 */
export function joinsPeople(
  { traits }: Pick<Channels, 'traits'>,
  { scope: { channel, values } }: Pick<Session, 'scope'>,
): boolean {
  return values.chat === undefined && (values.sender === undefined || isShared(traits(channel).ids, values.sender))
}

/**
 * Returns true if the model needs the names of those who write in direct chats, because the session joins several
 * people. The main session does so only where it is everybody's (`scope: global`); else it is the owner's.
 */
export function joinsDirectChats(
  channels: Pick<Channels, 'traits'>,
  { kind, chatType, source, scope }: Pick<Session, 'kind' | 'chatType' | 'source' | 'scope'>,
  global: boolean,
): boolean {
  if (chatType !== 'direct') return false
  return kind === 'main' ? global : source.kind === 'channel' && joinsPeople(channels, { scope })
}

/**
 * Returns true for a session that joins chats of several channels, the main one or that of a person: it is in no
 * namespace, so that no token of one of these channels reaches the words of the others (S42).
 */
export function joinsChannels({
  kind,
  displayKey,
  scope: { agent },
}: Pick<Session, 'kind' | 'displayKey' | 'scope'>): boolean {
  return kind === 'main' || ['direct:', `agent:${agent}:direct:`].some((start) => displayKey.startsWith(start))
}

/** The beginning of the ids of such sessions, in the place of a channel: no token has it as its namespace. */
export const JOINED_IDS = { main: 'main', person: 'person' } as const
