import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { titleOf } from '../../core/titles.ts'
import type { MetadataChange } from '../../store/session-port.ts'

/** Stands in the metadata for this bot, which has named the topic. */
export const TOPIC_BY_SELF = 'self'

/**
 * Returns the names of the place of a dispatch as metadata: those of the chat and the topic, and in a direct chat the
 * person's. What this event leaves out stays as it is known, as long as it is about the same place or person; what
 * belongs to another is undefined, so that it is taken away. Nothing changes where nothing was renamed.
 */
export function namesOf(
  { event, schedule, named }: Dispatch,
  channels: Pick<Channels, 'traits'>,
  known: Readonly<Record<string, string>> = {},
): MetadataChange {
  if (schedule || named) return {}
  const { address, sender, titles } = event
  const { channel, account, chat, chatType, topic } = address
  const sameChat = known.channel === channel && known.account === account && known.chat_id === chat
  const sameTopic = sameChat && topic !== undefined && known.topic_id === topic
  const person = chatType === 'direct' && sender.id !== '' ? sender : undefined
  return {
    chat_title: titles?.chat ?? (sameChat ? known.chat_title : undefined),
    ...topicNames(event, channels, sameTopic ? known : {}),
    person_name:
      titleOf(person?.displayName ?? person?.username) ??
      (person !== undefined && known.sender_id === person.id ? known.person_name : undefined),
  }
}

/** The name a topic began with may be an old one: it never replaces a name that is known. */
function topicNames(
  { address: { channel }, titles = {} }: Dispatch['event'],
  channels: Pick<Channels, 'traits'>,
  { topic_title: known, topic_by: knownBy }: Readonly<Record<string, string>>,
): MetadataChange {
  const title = titles.topic ?? known ?? titles.topicBegan
  const { topicBy: by } = titles
  if (title === undefined || title === known || by === undefined)
    return { topic_title: title, topic_by: title === known ? knownBy : undefined }
  return { topic_title: title, topic_by: by === TOPIC_BY_SELF ? by : senderAuthor(channels, channel, by) }
}
