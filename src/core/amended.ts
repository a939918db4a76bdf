import type { SessionEvent, UserMessageData } from './event.ts'
import type { TurnId } from './ids.ts'
import { type MessageName, messageNameKey } from './message.ts'
import { Spoken } from './spoken.ts'

/**
 * Events as people in the conversation see them now: an edited message with its last text, a deleted one gone, nothing
 * of an exchange that was taken back, and a voice note with the words that are said in it. What was before the first of
 * these events is not known, so an edit of it says nothing here.
 */
export function amended(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const amend = amendBackwards()
  return events
    .toReversed()
    .flatMap((event) => amend(event) ?? [])
    .reverse()
}

/** Returns what was said since the log was copied from another conversation: who wrote there is not here. */
export function saidHere(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return events.slice(events.findLastIndex(({ type }) => type === 'history_taken_over') + 1)
}

/** The events without those of exchanges that were taken back; edits and deletions stay as they are. */
export function withoutTakenBack(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const isTakenBack = takenBackBehind()
  return events
    .toReversed()
    .filter((event) => !isTakenBack(event) && !event.forgotten)
    .reverse()
}

/** Amends one event at a time, from the newest on; undefined: it is gone. */
export function amendBackwards(): (event: SessionEvent) => SessionEvent | undefined {
  const edits = new Map<string, UserMessageData>()
  const deleted = new Set<string>()
  /** Messages that replies of others quote still. */
  const takenBack = new Set<string>()
  const isTakenBack = takenBackBehind()
  const spoken = new Spoken()
  return (event) => {
    // A message that is asked once more is there again.
    if (event.type === 'exchange_taken_back' && event.data.again === undefined)
      for (const name of event.data.messages.map(messageNameKey)) takenBack.add(name)
    if (event.type === 'history_taken_over') {
      // The copy before it is of another conversation, in which a message may have the same id.
      for (const known of [edits, deleted, takenBack, spoken]) known.clear()
    }
    return isTakenBack(event) || event.forgotten ? undefined : current(event)
  }

  function current(event: SessionEvent): SessionEvent | undefined {
    switch (event.type) {
      case 'message_deleted':
        deleted.add(messageNameKey(event.data))
        return event
      case 'message_edited': {
        const name = editOf(event.data)
        if (!edits.has(name)) edits.set(name, event.data)
        return isDeleted(event.data) ? undefined : { ...event, data: heard(withoutDeletedQuote(event.data)) }
      }
      case 'files_read':
        spoken.add(event.data.files)
        return event
      case 'user_message':
        return isDeleted(event.data) ? undefined : { ...event, data: heard(asEdited(withoutDeletedQuote(event.data))) }
      case 'thread_read': {
        const messages = event.data.messages
          .filter((one) => !isDeleted(one))
          .map(withoutDeletedQuote)
          .map(heard)
        return { ...event, data: { ...event.data, messages } }
      }
      default:
        return event
    }
  }

  /** A file is read after its message. */
  function heard(data: UserMessageData): UserMessageData {
    return spoken.in(data)
  }

  /** A message is met once: one of that name before it is of a chat that has got a new id since. */
  function asEdited(data: UserMessageData): UserMessageData {
    if (data.messageId === undefined) return data
    const edit = edits.get(editOf(data))
    edits.delete(editOf(data))
    return edit === undefined ? data : withWordsOf(data, edit)
  }

  function isDeleted(data: UserMessageData): boolean {
    return data.messageId !== undefined && deleted.has(messageNameKey(data))
  }

  /** A platform gives the words of a message once more with each reply to it. */
  function withoutDeletedQuote(data: UserMessageData): UserMessageData {
    const { quoted, attachments, chat } = data
    if (quoted === undefined || deleted.size + takenBack.size === 0) return data
    const name = messageNameKey({ messageId: quoted.messageId, ...(chat === undefined ? {} : { chat }) })
    if (!deleted.has(name) && !takenBack.has(name)) return data
    const { text: _text, ...named } = quoted
    const files = attachments && { attachments: attachments.filter((file) => !file.quoted) }
    return { ...data, ...files, quoted: named }
  }
}

/**
 * Returns the function that says, of events from the newest on, which are of an exchange that was taken back later. The
 * same messages may follow it once more: those are not. Once a message is met, another of that name before it is of
 * another conversation, from which the log was copied, or of a chat that has got a new id since.
 */
function takenBackBehind(): (event: SessionEvent) => boolean {
  const turns = new Set<TurnId>()
  const messages = new Set<string>()
  return (event) => {
    if (event.type === 'exchange_taken_back') take(event.data)
    if (event.turnId !== undefined && turns.has(event.turnId)) return true
    return (event.type === 'user_message' || event.type === 'message_edited') && isOne(event)
  }

  function take(exchange: { readonly turn: TurnId; readonly messages: readonly MessageName[] }): void {
    turns.add(exchange.turn)
    for (const name of exchange.messages.map(messageNameKey)) messages.add(name)
  }

  function isOne({ type, data }: Extract<SessionEvent, { type: 'user_message' | 'message_edited' }>): boolean {
    if (data.messageId === undefined || !messages.has(messageNameKey(data))) return false
    if (type === 'user_message') messages.delete(messageNameKey(data))
    return true
  }
}

/**
 * Returns true if two texts are of one sender. In a chat that moved, ids of messages begin anew: an edit with the id of
 * an older message is no edit of it, unless the same sender wrote both.
 */
export function isOfSameSender(one: Pick<UserMessageData, 'sender'>, other: Pick<UserMessageData, 'sender'>): boolean {
  return one.sender.id === other.sender.id
}

type Words = Pick<UserMessageData, 'text' | 'attachments' | 'enclosed' | 'mentions' | 'forwarded' | 'via'>

/** Returns a message with the words and files that an edit of it has. */
export function withWordsOf<Message extends Words>(message: Message, edit: Words): Message {
  const { attachments: _files, enclosed: _things, mentions: _named, forwarded: _words, via: _by, ...rest } = message
  const { text, attachments, enclosed, mentions, forwarded, via } = edit
  return {
    ...(rest as Message),
    text,
    ...(attachments === undefined ? {} : { attachments }),
    ...(enclosed === undefined ? {} : { enclosed }),
    ...(mentions === undefined ? {} : { mentions }),
    ...(forwarded === undefined ? {} : { forwarded }),
    ...(via === undefined ? {} : { via }),
  }
}

function editOf(data: UserMessageData): string {
  return `${messageNameKey(data)} ${data.sender.id}`
}
