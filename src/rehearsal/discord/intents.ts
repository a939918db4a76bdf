import type { ApiMessage } from './api-types.ts'

export const GUILDS = 1 << 0
export const GUILD_MESSAGES = 1 << 9
export const DIRECT_MESSAGES = 1 << 12
export const MESSAGE_CONTENT = 1 << 15
const PRIVILEGED_OTHERS = (1 << 1) | (1 << 8)
/** The bits the platform knows. */
const KNOWN = (1 << 26) - 1

/**
 * Returns the close code for an IDENTIFY with these intents, if any: 4013 for unknown bits, 4014 for privileged ones
 * that are off.
 */
export function refuseIntents(intents: number, messageContent: boolean): 4013 | 4014 | undefined {
  if (!Number.isInteger(intents) || intents < 0 || intents > KNOWN) return 4013
  if ((intents & PRIVILEGED_OTHERS) !== 0) return 4014
  return (intents & MESSAGE_CONTENT) !== 0 && !messageContent ? 4014 : undefined
}

/** Returns true if a session with these intents receives a dispatch. */
export function isWanted(type: string, data: Readonly<Record<string, unknown>>, intents: number): boolean {
  if (type.startsWith('MESSAGE_')) {
    return (intents & (data.guild_id === undefined ? DIRECT_MESSAGES : GUILD_MESSAGES)) !== 0
  }
  return !/^(GUILD|CHANNEL|THREAD)_/.test(type) || (intents & GUILDS) !== 0
}

/**
 * Returns the message without its content, unless the session has the Message Content intent, or the message is in a
 * direct chat, the bot's own, or mentions it.
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
  const { poll: _, ...rest } = data
  return { ...rest, content: '', attachments: [], embeds: [], components: [] }
}
