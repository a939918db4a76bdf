import { presentTitles } from '../../../src/core/titles.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  optionalFields,
  optionalText,
  present,
  textOf,
} from '../../shared/fields.ts'
import { readPress } from '../../shared/press.ts'
import { dropped, type InboundReading, readSafely } from '../../shared/reading.ts'
import { idOf, isStamp, toAddress } from '../address.ts'
import { ANSWERED_TO_ONE, channelNameOf, chatOf, type SlashContext } from './read-slash-command.ts'

/** The reason for which the press of a button is dropped that is none of ours. */
export const FOREIGN_BUTTON = 'block_actions:foreign'

/** A press comes with the message it stands below, whichever way it comes. */
export function isPress(body: unknown): body is Fields {
  return isFields(body) && body.type === 'block_actions' && Array.isArray(body.actions)
}

type PressContext = Omit<SlashContext, 'commands'>

/** The press of a button to the command it carries. Pure and total, as the reading of events. */
export function readPressed(body: Fields, context: PressContext): InboundReading {
  return readSafely('block_actions', () => readFields(body, context))
}

/** Returns the place of a press, for an answer that only this person sees. */
export function placeOfPress(body: Fields): { readonly channel: string; readonly thread_ts?: string } {
  const channel = idOf(fieldsOf(body.channel).id)
  const thread = threadOf(optionalFields(body.message))
  return thread === undefined ? { channel } : { channel, thread_ts: thread }
}

function readFields(body: Fields, { account, bot, receivedAt, senderIsOfOurs }: PressContext): InboundReading {
  const user = fieldsOf(body.user)
  const channel = fieldsOf(body.channel)
  const [action] = listOf(body.actions).map(fieldsOf)
  const pressed = readPress(optionalText(action?.value) ?? '')
  if (pressed === undefined) return dropped(FOREIGN_BUTTON)
  const named = { channel_name: channel.name }
  const id = textOf(body.trigger_id)
  const displayName = optionalText(user.name) ?? optionalText(user.username)
  const chat = chatOf(channel.id, optionalText(channel.name))
  return {
    kind: 'event',
    event: {
      ...pressed,
      eventKey: `${bot.team}/${bot.userId}:press:${id}`,
      address: toAddress(account, { ...chat, team: bot.team, topic: threadOf(optionalFields(body.message)) }),
      sender: {
        id: idOf(user.id),
        kind: 'user',
        ...present('team', senderIsOfOurs ? bot.team : optionalText(user.team_id)),
        ...(displayName ? { displayName } : {}),
      },
      ...presentTitles({ chat: channelNameOf(named), topic: undefined, topicBegan: undefined }),
      sentAt: receivedAt,
      messageId: id,
      answerBy: ANSWERED_TO_ONE,
    },
  }
}

/** A message that began a thread stands outside of it. */
function threadOf(message: Fields | undefined): string | undefined {
  const { thread_ts: thread, ts } = message ?? {}
  return isStamp(thread) && thread !== ts ? thread : undefined
}
