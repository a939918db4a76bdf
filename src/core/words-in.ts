import type { SessionEvent, UserMessageData } from './event.ts'

/** Returns the texts of a message, in whatever way they came. */
export function wordsIn({ text, raw, forwarded, enclosed, attachments, data }: UserMessageData): readonly string[] {
  const files = (attachments ?? []).flatMap((file) => [file.text, file.spoken, file.fileName, file.about])
  return [text, raw, forwarded?.text, data, ...(enclosed ?? []), ...files].filter((one) => one !== undefined)
}

/** Returns the messages that an event brought into a log. */
export function messagesIn(event: SessionEvent): readonly UserMessageData[] {
  if (event.type === 'thread_read') return event.data.messages
  return event.type === 'user_message' || event.type === 'message_edited' ? [event.data] : []
}
