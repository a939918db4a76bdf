import { type Address, parseAddress } from '../../core/address.ts'
import { toAccountId } from '../../core/ids.ts'
import type { SessionDraft } from '../../core/session.ts'

/**
 * The chat a session lives in, from what its last entrance left in its metadata (S4): what the access rules and the send
 * policy of a message to it are asked about. A session without a chat of its own stands at its own id.
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
