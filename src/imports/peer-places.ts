import { isPlaceholder } from '../core/placeholder-id.ts'

/** The platforms that both know; of all others nothing can be taken. */
export const SHARED_CHANNELS = ['telegram', 'discord', 'slack'] as const

export type SharedChannel = (typeof SHARED_CHANNELS)[number]

/** The secrets of an account by our settings, with the variable in which every program keeps them. */
export const SECRETS: Readonly<Record<SharedChannel, readonly (readonly [setting: string, variable: string])[]>> = {
  telegram: [['token', 'TELEGRAM_BOT_TOKEN']],
  discord: [['token', 'DISCORD_BOT_TOKEN']],
  slack: [
    ['botToken', 'SLACK_BOT_TOKEN'],
    ['appToken', 'SLACK_APP_TOKEN'],
  ],
}

interface Form {
  /** Matches the id of a chat. */
  readonly chat: RegExp
  /** Matches the id of a group or channel, with several people. */
  readonly group: RegExp
  /** Returns the type of the chat with this id; undefined where the id does not say it. */
  typeOf(this: void, chat: string): 'direct' | 'group' | 'channel' | undefined
}

const FORMS: Readonly<Record<SharedChannel, Form>> = {
  telegram: {
    chat: /^-?[1-9]\d*$/,
    group: /^-[1-9]\d*$/,
    typeOf: (chat) => (chat.startsWith('-') ? 'group' : 'direct'),
  },
  // The id of a direct chat is not that of the person, and neither has a form of its own.
  discord: { chat: /^[1-9]\d{14,19}$/, group: /^[1-9]\d{14,19}$/, typeOf: () => 'channel' },
  slack: {
    chat: /^[CD][A-Z0-9]{6,20}$/,
    group: /^[CG][A-Z0-9]{6,20}$/,
    typeOf: (chat) => (chat.startsWith('C') ? 'channel' : chat.startsWith('D') ? 'direct' : undefined),
  },
}

/** Returns the platform of this name, undefined for one that Parley has not. */
export function sharedChannel(name: string | undefined): SharedChannel | undefined {
  const known = name?.trim().toLowerCase()
  return SHARED_CHANNELS.find((channel) => channel === known)
}

/** Returns true for the id of a group, channel or server that there can be; a name or an example is none. */
export function isGroupId(channel: SharedChannel, id: string): boolean {
  return FORMS[channel].group.test(id) && !isPlaceholder(id, [])
}

/**
 * Returns the address of a chat as a schedule names it, from what other programs write: an id, with the name of the
 * platform or `channel:` before it, and with its topic behind. Undefined for a name, and where the id does not say what
 * kind of chat it is.
 */
export function addressOf(channel: SharedChannel, to: string, account = 'default'): string | undefined {
  const bare = to
    .trim()
    .replace(/^(?:telegram|tg|discord|dc|slack):/i, '')
    .replace(/^(?:group|channel|chat):/i, '')
  const [, chat = '', topic] = /^(-?\w+)(?::(?:topic:|thread:)?(\d+(?:\.\d+)?))?$/.exec(bare) ?? []
  const type = FORMS[channel].chat.test(chat) && !isPlaceholder(chat, []) ? FORMS[channel].typeOf(chat) : undefined
  if (type === undefined) return undefined
  const at = account === 'default' ? '' : `@${account}`
  return `${channel}${at}:${type}:${chat}${topic === undefined ? '' : `/${topic}`}`
}
