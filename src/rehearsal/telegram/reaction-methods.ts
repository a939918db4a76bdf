import { badRequest } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import type { Params } from './params.ts'
import { readMessage, readWritableChat } from './targets.ts'

/** The emoji that the Bot API lists for ReactionTypeEmoji, without the mark that asks for the picture. */
const LISTED: ReadonlySet<string> = new Set(
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(
    ' ',
  ),
)

/** Puts the one reaction of a bot on a message, in the place of an earlier one; an empty list takes it off. */
export function setMessageReaction(api: BotApi, params: Params): true {
  const state = readWritableChat(api.world, api.bot, params)
  const stored = readMessage({ state, bot: api.bot }, params, 'message to react not found')
  const given = listOf(params.reaction)
  if (given.length > 1) throw badRequest('REACTIONS_TOO_MANY')
  const [emoji] = given.map(emojiOf)
  if (emoji !== undefined && !LISTED.has(emoji)) throw badRequest('REACTION_INVALID')
  if (emoji === undefined) stored.reactions.delete(api.bot.user.id)
  else stored.reactions.set(api.bot.user.id, emoji)
  return true
}

function listOf(given: unknown): readonly unknown[] {
  const list: unknown = typeof given === 'string' ? JSON.parse(given) : (given ?? [])
  if (!Array.isArray(list)) throw badRequest("can't parse reaction types JSON object")
  return list
}

function emojiOf(reaction: unknown): string {
  const { type, emoji } = (reaction ?? {}) as { type?: unknown; emoji?: unknown }
  if (type !== 'emoji' || typeof emoji !== 'string') throw badRequest("can't parse reaction type")
  return emoji
}
