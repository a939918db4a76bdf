import type { Dispatch } from '../../core/dispatch.ts'
import { titleOf } from '../../core/titles.ts'
import type { MetadataChange } from '../../store/session-port.ts'

/**
 * Returns the names of the place of a dispatch as metadata: those of the chat and the topic, and in a direct chat the
 * person's. What this event leaves out stays as it is known, as long as it is about the same place or person; what
 * belongs to another is undefined, so that it is taken away. Nothing changes where nothing was renamed.
 */
export function namesOf(
  { event, schedule, named }: Dispatch,
  known: Readonly<Record<string, string>> = {},
): MetadataChange {
  if (schedule || named) return {}
  const { address, sender, titles } = event
  const { channel, account, chat, chatType, topic } = address
  const sameChat = known.channel === channel && known.account === account && known.chat_id === chat
  const sameTopic = sameChat && topic !== undefined && known.topic_id === topic
  const person = chatType === 'direct' && sender.id !== '' ? sender : undefined
  // Only the chat is known of a text that nobody in it has said.
  const samePerson = person === undefined ? sameChat : known.sender_id === person.id
  return {
    chat_title: titles?.chat ?? (sameChat ? known.chat_title : undefined),
    // The name a topic began with may be an old one: it never replaces a name that is known.
    topic_title: titles?.topic ?? (sameTopic ? known.topic_title : undefined) ?? titles?.topicBegan,
    person_name: titleOf(person?.displayName ?? person?.username) ?? (samePerson ? known.person_name : undefined),
  }
}
