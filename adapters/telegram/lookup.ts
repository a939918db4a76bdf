import type { MessageLink, MessageLookup } from '../../src/core/message-link.ts'

const LINK =
  /^(?:https?:\/\/)?(?:t|telegram)\.me\/(?:c\/(?<internal>\d+)|(?<name>[a-z]\w{3,31}))\/(?<ids>\d+(?:\/\d+)?)\/?(?:\?.*)?$/i

export const telegramLookup: MessageLookup = {
  readLink,
  keepsBack: [
    'Telegram never gives a bot what another bot writes in a group.',
    'Where privacy mode was turned off, it stays on in the groups the bot was in before: take the bot out and add it again.',
  ],
}

/**
 * `t.me/c/<number>[/<topic>]/<message>` of a private supergroup, whose chat id is `-100<number>`, and
 * `t.me/<name>[/<topic>]/<message>` of a public one, which does not contain the chat id.
 */
function readLink(text: string): MessageLink | null {
  const { internal, ids } = LINK.exec(text.trim())?.groups ?? {}
  if (ids === undefined) return null
  const [first = '', second] = ids.split('/')
  return {
    channel: 'telegram',
    messageId: second ?? first,
    ...(internal === undefined ? {} : { chat: `-100${internal}` }),
    ...(second === undefined ? {} : { topic: first }),
  }
}
