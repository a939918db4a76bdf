import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import { platformIdOf } from '../../core/platform-id.ts'
import type { SessionDraft } from '../../core/session.ts'

export interface ChatOwners {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
}

/**
 * Returns true if the chat by which a session was last entered is not its person's any more, e.g. after `/unlink`: a
 * session that follows somebody over several chats would deliver there what was said in the others.
 */
export function isPartedChat({ scope, kind, metadata }: SessionDraft, { channels, whoIs }: ChatOwners): boolean {
  const { channel, chat_type: chatType, sender_id: id, space } = metadata
  if (scope.values.chat !== undefined || chatType !== 'direct' || channel === undefined || id === undefined)
    return false
  // The team of the chat is that of its ids, where ids belong to one.
  const [, team] = /^team:(.+)$/.exec(space ?? '') ?? []
  const platformId = platformIdOf(channels, channel, team === undefined ? { id } : { id, team })
  const { person, role } = whoIs(platformId)
  if (kind === 'main') return role !== 'owner'
  const own = scope.values.sender?.toLowerCase()
  return (
    own !== undefined && ![person, platformId.slice(channel.length + 1), id].some((name) => name?.toLowerCase() === own)
  )
}
