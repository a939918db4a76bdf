import type { ApiChat } from './api-types.ts'
import type { BotState } from './bot-state.ts'
import { isRecord } from './params.ts'

type Counts = Pick<BotState, 'ahead'>

/** Returns the world's number of the message that a bot means: in a group each bot counts messages by itself. */
export function numberInWorld({ ahead }: Counts, { type }: ApiChat, id: number): number {
  return type === 'group' ? id - ahead : id
}

/** Returns a message, or an object that has one in it, with the numbers by which a bot knows it. */
export function asNumberedFor<T>(bot: Counts, seen: T): T {
  if (bot.ahead === 0 || !isRecord(seen)) return seen
  const { message_id: id, chat, message, reply_to_message: answered } = seen
  const isCounted = typeof id === 'number' && isRecord(chat) && chat.type === 'group'
  return {
    ...seen,
    ...(isCounted && { message_id: id + bot.ahead }),
    ...(message !== undefined && { message: asNumberedFor(bot, message) }),
    ...(answered !== undefined && { reply_to_message: asNumberedFor(bot, answered) }),
  }
}
