import { isOfSameSender, withWordsOf } from '../../core/amended.ts'
import type { TakenMessages, UserMessageData } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import { calledBy, lookOf, plainExcerpt, plainName } from '../../core/label.ts'
import type { AttachmentRef, FileReading, MessageName } from '../../core/message.ts'
import { isOwnVoice } from '../../core/spoken.ts'

/** A user message as a model view keeps it. */
export type ReceivedMessage = UserMessageData & {
  /** True for a later text of a message that was shown before. */
  readonly edit?: true
  /** True if it was deleted after it was shown: the fact that somebody spoke stays, the words do not. */
  readonly deleted?: true
  /**
   * It was said at the root of the channel, and is shown in a thread of it: by somebody, by somebody who is answered in
   * another thread, or by the bot itself.
   */
  readonly inChannel?: 'theirs' | 'answered' | 'own'
  /** The log that has it, where it is shown by reference. */
  readonly elsewhere?: SessionId
  /** Distinguishes its sender from an earlier one whose name looks the same. */
  readonly apart?: string
}

/** The senders of a view by the names they have, and by how these look. */
export type Speakers = ReadonlyMap<string, string>

/**
 * Returns a message whose sender is distinguished from another one of that name, and the senders known from then on.
 * The first of them keeps the plain name: what was shown stays as it was, so that a provider finds it again.
 */
export function withSpeaker(
  speakers: Speakers,
  message: ReceivedMessage,
): { readonly speakers: Speakers; readonly message: ReceivedMessage } {
  const { sender, from, inChannel, own } = message
  if (from !== undefined || inChannel === 'own' || own) return { speakers, message }
  const id = `${sender.team ?? ''}/${sender.id}`
  const name = `${sender.kind === 'bot' ? 'app: ' : ''}${calledBy(sender)}`
  if (speakers.get(name) === id) return { speakers, message }
  const look = `look: ${sender.kind === 'bot' ? 'app: ' : ''}${lookOf(calledBy(sender))}`
  const first = speakers.get(look)
  if (first !== undefined && first !== id) {
    const account = plainName(sender.username ?? '')
    // No name has a colon, so that nobody else's looks like this one with its account.
    const apart = account === '' ? `id: ${plainExcerpt(sender.id, LONGEST_APART)}` : `account: ${account}`
    return { speakers, message: { ...message, apart } }
  }
  return { speakers: new Map([...speakers, [name, id], [look, id]]), message }
}

const LONGEST_APART = 64

export interface ContextLimits {
  /** The most unanswered group messages kept as context of the next turn (S26). */
  readonly contextMessages: number
  /** The most characters of these messages together. */
  readonly contextCharacters: number
}

/** Bounds the context in number and length, oldest first; messages that owe an answer are never dropped. */
export function boundContext(
  pending: readonly ReceivedMessage[],
  { contextMessages, contextCharacters }: ContextLimits,
): readonly ReceivedMessage[] {
  if (pending.every(({ triggers }) => triggers)) return pending
  let [messages, characters] = [0, 0]
  const kept = pending.toReversed().filter(({ triggers, text }) => {
    if (triggers) return true
    messages++
    characters += text.length
    return messages <= contextMessages && characters <= contextCharacters
  })
  return kept.length === pending.length ? pending : kept.reverse()
}

/**
 * Applies an edit: in place if the message still waits, else behind what came since it was shown. If the edit itself
 * waits for an answer, the message waits with it.
 */
export function applyEdit(pending: readonly ReceivedMessage[], edit: UserMessageData): readonly ReceivedMessage[] {
  const edits = (message: ReceivedMessage): boolean => isSame(message, edit) && isOfSameSender(message, edit)
  if (!pending.some(edits)) return [...pending, { ...edit, edit: true }]
  const waits = edit.triggers && { triggers: true, ...(edit.row && { row: edit.row }) }
  return pending.map((message) => (edits(message) ? { ...withWordsOf(message, edit), ...waits } : message))
}

/** Drops a deleted message that was not shown yet; quotes of it lose its text. */
export function dropDeleted(pending: readonly ReceivedMessage[], deleted: MessageName): readonly ReceivedMessage[] {
  return redact(pending, deleted).filter((message) => !message.deleted)
}

/** Adds what became of files; returns the same list if none of them came with these messages. */
export function withReadFiles(
  received: readonly ReceivedMessage[],
  files: ReadonlyMap<string, FileReading>,
): readonly ReceivedMessage[] {
  const isRead = ({ ref }: AttachmentRef): boolean => files.has(ref)
  if (!received.some(({ attachments }) => attachments?.some(isRead))) return received
  return received.map((message) => {
    if (!message.attachments?.some(isRead)) return message
    return {
      ...message,
      attachments: message.attachments.map((file) => ({ ...file, ...readingOf(file, message, files) })),
    }
  })
}

/**
 * The same recording may come with its own message and once more, with a reply to it or passed on: what is said in it
 * is not said by whoever does that.
 */
function readingOf(
  { ref, ...file }: AttachmentRef,
  message: ReceivedMessage,
  files: ReadonlyMap<string, FileReading>,
): FileReading | undefined {
  const reading = files.get(ref)
  if (reading?.spoken === undefined || isOwnVoice(file, message)) return reading
  const { spoken: text, ...rest } = reading
  return { ...rest, text }
}

/** Returns true for a file of which no turn has found out yet whether it can be shown. */
export function isUnread({ media, text, spoken, unread }: FileReading): boolean {
  return media === undefined && text === undefined && spoken === undefined && unread === undefined
}

/** Returns true if the message itself is among them, not only a later text of it. */
export function names(received: readonly ReceivedMessage[], message: MessageName): boolean {
  return received.some((one) => !one.edit && isSame(one, message))
}

/** Redacts a deleted message; returns the same list if the message is neither in it nor quoted there. */
export function redact(received: readonly ReceivedMessage[], deleted: MessageName): readonly ReceivedMessage[] {
  const quotes = ({ quoted, attachments, chat }: ReceivedMessage) =>
    quoted !== undefined &&
    quoted.messageId === deleted.messageId &&
    chat === deleted.chat &&
    (quoted.text !== undefined || attachments?.some(isQuoted))
  if (!received.some((message) => isSame(message, deleted) || quotes(message))) return received
  return received.map((message) => {
    const { attachments, enclosed: _things, quoted, ...rest } = message
    if (isSame(message, deleted)) {
      const { forwarded: _words, via: _by, mentions: _named, ...left } = rest
      return { ...left, text: '', deleted: true }
    }
    if (!quoted || !quotes(message)) return message
    const { text: _text, ...named } = quoted
    const left = attachments && { attachments: attachments.filter((file) => !isQuoted(file)) }
    return { ...message, ...left, quoted: named }
  })
}

/** A file of the message that was replied to goes with that. */
function isQuoted({ quoted }: AttachmentRef): boolean {
  return quoted === true
}

/**
 * Returns the messages of a turn, with what was said before them since the last message that owes an answer, and, for
 * the last of all, everything after it too.
 */
export function takeMessages(
  pending: readonly ReceivedMessage[],
  { messages, rows }: TakenMessages,
): { readonly taken: readonly ReceivedMessage[]; readonly left: readonly ReceivedMessage[] } {
  if (messages === undefined) return { taken: pending, left: [] }
  const owing = pending.filter(({ triggers }) => triggers)
  const isNamed = ({ row }: ReceivedMessage): boolean => row !== undefined && rows?.includes(row) === true
  const meant = new Set(rows === undefined ? owing.slice(0, messages) : owing.filter(isNamed))
  const isLeft = (one: ReceivedMessage): boolean => one.triggers && !meant.has(one)
  const last = pending.findLastIndex((one) => meant.has(one))
  const end = pending.slice(last + 1).some(isLeft) ? last + 1 : pending.length
  const begin =
    pending
      .slice(
        0,
        pending.findIndex((one) => meant.has(one)),
      )
      .findLastIndex(isLeft) + 1
  const isTaken = (one: ReceivedMessage, index: number): boolean => index >= begin && index < end && !isLeft(one)
  return { taken: pending.filter(isTaken), left: pending.filter((one, index) => !isTaken(one, index)) }
}

/** Returns the messages without those that get no turn any more. */
export function withoutDropped(
  pending: readonly ReceivedMessage[],
  { rows }: TakenMessages,
): readonly ReceivedMessage[] {
  return pending.filter(({ triggers, row }) => !triggers || (rows !== undefined && !(row && rows.includes(row))))
}

/** Returns true if both are of the same message, or texts of it. */
export function isSame(a: MessageName, b: MessageName): boolean {
  return a.messageId !== undefined && a.messageId === b.messageId && a.chat === b.chat
}
