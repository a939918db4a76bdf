import type { Channels } from './channel-traits.ts'
import { isShared } from './platform-id.ts'
import type { Session } from './session.ts'

/**
 * Whether a session joins people of different chats: one that neither a chat nor a single person sets apart, as the main
 * session. An id that stands for many people sets nobody apart.
 */
export function joinsPeople(
  { traits }: Pick<Channels, 'traits'>,
  { scope: { channel, values } }: Pick<Session, 'scope'>,
): boolean {
  return values.chat === undefined && (values.sender === undefined || isShared(traits(channel).ids, values.sender))
}

/**
 * Whether a session of direct chats is told to its model with the names of those who write: one that joins several people.
 * The main session does where it is everybody's (`scope: global`); else it is the owner's.
 */
export function joinsDirectChats(
  channels: Pick<Channels, 'traits'>,
  { kind, chatType, source, scope }: Session,
  global: boolean,
): boolean {
  if (chatType !== 'direct') return false
  return kind === 'main' ? global : source.kind === 'channel' && joinsPeople(channels, { scope })
}
