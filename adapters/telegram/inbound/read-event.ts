import { type Fields, fieldsOf, isFields } from '../../shared/fields.ts'
import { dropped, type InboundReading, readSafely, wordOf } from '../../shared/reading.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { readMembership, readPressed, readReaction } from './chat-events.ts'
import { readEdit, readMessage } from './read-message.ts'
import { hiddenIn, type InboundContext, type UpdateReading } from './reading.ts'

/** The kinds of updates to ask for; a kind that is not listed here never arrives. */
export const ALLOWED_UPDATES = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
  'message_reaction',
] as const
type UpdateKind = (typeof ALLOWED_UPDATES)[number]

const READERS: Readonly<Record<UpdateKind, (payload: Fields, reading: UpdateReading) => InboundReading>> = {
  message: readMessage,
  channel_post: readMessage,
  edited_message: readEdit,
  edited_channel_post: readEdit,
  callback_query: readPressed,
  my_chat_member: readMembership,
  message_reaction: readReaction,
}

/**
 * One Update, as parsed from JSON, to what it means. Pure and total: any value is either an event or dropped with a
 * reason to count, never an exception.
 *
 * The dedupe key is the content's own identity where it has one, under the bot's id: `update_id` may be given again
 * after a quiet week, and another Bot API server counts its own. What has no identity of its own is
 * keyed by update id *and* time, so that a number given again cannot hide a new event.
 */
export function readUpdate(given: unknown, context: InboundContext): InboundReading {
  const update = withoutNulls(given)
  if (!isFields(update)) return dropped('malformed')
  const kind = kindIn(update)
  if (kind === undefined) {
    const other = Object.keys(update).find((key) => key !== 'update_id')
    const nothing = other === undefined ? kindIn(given as Fields) : undefined
    return dropped(nothing === undefined ? `update:${wordOf(other)}` : `malformed:${nothing}`)
  }
  const hidden = hiddenIn(update)
  if (hidden !== undefined) return dropped(`${kind}:${hidden}`)
  return readSafely(kind, () =>
    READERS[kind](fieldsOf(update[kind]), { context, updateId: JSON.stringify(update.update_id) ?? '' }),
  )
}

function kindIn(update: Fields) {
  return ALLOWED_UPDATES.find((name) => Object.hasOwn(update, name))
}
