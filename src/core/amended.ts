import type { MessageName, SessionEvent } from './event.ts'

/**
 * Events as people in the conversation see them now: an edited message with its last text, a deleted one gone. What was
 * before the first of these events is not known, so an edit of it says nothing here.
 */
export function amended(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const amend = amendBackwards()
  return events
    .toReversed()
    .flatMap((event) => amend(event) ?? [])
    .reverse()
}

/** The same, one event at a time from the newest on; undefined: it is gone. */
export function amendBackwards(): (event: SessionEvent) => SessionEvent | undefined {
  const texts = new Map<string, string>()
  const deleted = new Set<string>()
  return (event) => {
    if (event.type === 'message_edited') {
      const name = nameOf(event.data)
      if (!texts.has(name)) texts.set(name, event.data.text)
    }
    if (event.type === 'message_deleted') deleted.add(nameOf(event.data))
    if (event.type !== 'user_message' || event.data.messageId === undefined) return event
    const name = nameOf(event.data)
    if (deleted.has(name)) return undefined
    const text = texts.get(name)
    return text === undefined ? event : { ...event, data: { ...event.data, text } }
  }
}

function nameOf({ messageId, chat }: MessageName): string {
  return `${chat ?? ''} ${messageId}`
}
