import { type Address, parseAddress } from '../../core/address.ts'
import { toAccountId } from '../../core/ids.ts'
import type { SessionDraft } from '../../core/session.ts'

/**
 * Returns the chat a session lives in, from the metadata of its last entrance (S4); the access rules and the send
 * policy of a message to it go by that address. A session without a chat of its own has its own id as address.
 */
export function addressOf({ id, scope, chatType, metadata }: SessionDraft): Address {
  if (metadata.deliver_to !== undefined) return parseAddress(metadata.deliver_to)
  const { channel, account, chat_id: chat = id, chat_type: type, topic_id: topic, space } = metadata
  const [, spaceType, spaceId] = /^([^:]+):(.+)$/.exec(space ?? '') ?? []
  return {
    channel: channel ?? scope.channel,
    account: account === undefined ? scope.account : toAccountId(account),
    chatType: type === 'direct' || type === 'group' || type === 'channel' ? type : chatType,
    chat,
    ...(topic === undefined ? {} : { topic }),
    ...(spaceType && spaceId ? { space: { type: spaceType, id: spaceId } } : {}),
  }
}
