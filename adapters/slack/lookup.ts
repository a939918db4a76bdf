import type { MessageLink, MessageLookup } from '../../src/core/message-link.ts'

const LINK =
  /^https?:\/\/[\w-]+(?:\.enterprise)?\.slack\.com\/archives\/(?<chat>[A-Z][A-Z0-9]+)\/p(?<seconds>\d{10,12})(?<micros>\d{6})(?:\?(?<query>.*))?$/

export const slackLookup: MessageLookup = {
  readLink,
  keepsBack: [
    'Slack gives only events the app is subscribed to: under Event Subscriptions it needs message.channels, message.groups, message.im, message.mpim and app_mention.',
    'Slack gives a channel only to who is in it: /invite the bot.',
  ],
}

/** `<workspace>.slack.com/archives/<channel>/p<ts without its dot>[?thread_ts=<ts of the root>]`. */
function readLink(text: string): MessageLink | null {
  const { chat, seconds, micros, query } = LINK.exec(text.trim())?.groups ?? {}
  if (chat === undefined) return null
  const topic = new URLSearchParams(query).get('thread_ts')
  return { channel: 'slack', chat, messageId: `${seconds}.${micros}`, ...(topic === null ? {} : { topic }) }
}
