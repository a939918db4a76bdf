import type { MessageLink, MessageLookup } from '../../src/core/message-link.ts'

const LINK =
  /^(?:https?:\/\/)?(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/channels\/(?:@me|\d{1,20})\/\d{1,20}\/(?<message>\d{1,20})\/?$/i

export const discordLookup: MessageLookup = {
  readLink,
  keepsBack: [
    'Discord gives a channel only to who may see it: the bot needs View Channel and Read Message History there.',
  ],
}

/**
 * `discord.com/channels/<guild>/<channel>/<message>`. The channel may be a thread, which is a topic to us, or a direct
 * chat, which we name by its person; the message's id is unique by itself.
 */
function readLink(text: string): MessageLink | null {
  const { message } = LINK.exec(text.trim())?.groups ?? {}
  return message === undefined ? null : { channel: 'discord', messageId: message }
}
