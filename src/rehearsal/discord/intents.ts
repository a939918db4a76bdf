import type { ApiMessage } from './api-types.ts'

export const GUILDS = 1 << 0
export const GUILD_MESSAGES = 1 << 9
export const DIRECT_MESSAGES = 1 << 12
export const MESSAGE_CONTENT = 1 << 15
const PRIVILEGED_OTHERS = (1 << 1) | (1 << 8)
/** Bits the platform knows. */
const KNOWN = (1 << 26) - 1

/** The close code an IDENTIFY with these intents earns, if any: 4013 unknown bits, 4014 privileged ones that are off. */
export function refuseIntents(intents: number, messageContent: boolean): 4013 | 4014 | undefined {
  if (!Number.isInteger(intents) || intents < 0 || intents > KNOWN) return 4013
  if ((intents & PRIVILEGED_OTHERS) !== 0) return 4014
  return (intents & MESSAGE_CONTENT) !== 0 && !messageContent ? 4014 : undefined
}

/** Whether a session with these intents is told of a dispatch at all. */
export function isWanted(type: string, data: Readonly<Record<string, unknown>>, intents: number): boolean {
  if (type.startsWith('MESSAGE_')) {
    return (intents & (data.guild_id === undefined ? DIRECT_MESSAGES : GUILD_MESSAGES)) !== 0
  }
  return !/^(GUILD|CHANNEL|THREAD)_/.test(type) || (intents & GUILDS) !== 0
}

/**
 * Without the Message Content intent a message is blank, except in direct chats, the bot's own ones and those that
 * mention it.
 */
export function withoutContent(
  data: Readonly<Record<string, unknown>>,
  intents: number,
  botId: string,
): Readonly<Record<string, unknown>> {
  const message = data as Readonly<Partial<ApiMessage & { guild_id: string }>>
  const { author, content, mentions = [] } = message
  if ((intents & MESSAGE_CONTENT) !== 0 || content === undefined || message.guild_id === undefined) return data
  if (author?.id === botId || mentions.some(({ id }) => id === botId)) return data
  return { ...data, content: '', attachments: [], embeds: [] }
}
