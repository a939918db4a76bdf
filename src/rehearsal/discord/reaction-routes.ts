import { unknownEmoji } from './api-error.ts'
import type { RestApi, RestCall } from './rest-api.ts'
import { readMessage, readWritable } from './targets.ts'

/** One emoji as Discord knows it. */
const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic})(?:\p{Emoji_Modifier}|\uFE0F|\u200D|\p{Extended_Pictographic})*$/u

/** Puts an emoji on a message; the same again changes nothing. */
export function putReaction(api: RestApi, call: RestCall): undefined {
  const state = readWritable(api, call)
  const stored = readMessage(state, call)
  const emoji = decodeURIComponent(call.ids[2] ?? '')
  if (!EMOJI.test(emoji)) throw unknownEmoji()
  stored.reactions.add(emoji)
}
