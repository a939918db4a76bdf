import type { Address } from './address.ts'
import type { MediaPart } from './content.ts'

/** The sender, by platform id. Names are text for people and never authority. */
export interface Sender {
  readonly id: string
  /**
   * `anonymous` covers every sender whose id is shared or stands for a chat (Telegram 1087968824, 777000, 136817688 and
   * any `sender_chat`): such a sender can talk but never holds authority.
   */
  readonly kind: 'user' | 'bot' | 'anonymous'
  readonly displayName?: string
  readonly username?: string
  /** The workspace or team the id belongs to, where ids are only unique inside one. */
  readonly team?: string
}

/** A file the platform holds, by its opaque reference. It is never a path or URL of a message. */
export interface AttachmentRef {
  readonly ref: string
  readonly mime?: string
  readonly fileName?: string
  /** Bytes. */
  readonly size?: number
  /** The file in the media store, once it was fetched; nothing fetches it yet. */
  readonly media?: MediaPart
}

export interface QuotedMessage {
  readonly messageId: string
  readonly text?: string
  /** The writer of the text, not who passed it on; absent where the platform does not say. */
  readonly sender?: Sender
  /** The quoted message is one of ours. */
  readonly own: boolean
}

/**
 * Marks words that somebody else wrote and the sender passed on: forwarded, shared, or posted by a channel the chat
 * follows. Whose they are is what the platform says; it gives nobody authority.
 */
export interface Forwarded {
  /** Whoever wrote them first. */
  readonly from?: Sender
  /** The platform's name for the writer, where the platform hides them or a chat is the writer. */
  readonly name?: string
  /** The words, where the sender wrote some of their own beside them; absent: the text of the message is theirs. */
  readonly text?: string
}

/**
 * The names of a place, as people read them there: text for people, never an id and never authority. Each is absent
 * where the platform did not say it, which is no reason to forget it.
 */
export interface Titles {
  readonly chat?: string
  readonly topic?: string
  /** The name with which the topic began; it may have got another since. */
  readonly topicBegan?: string
}

/** Facts every inbound event has. */
interface InboundFacts {
  /** Unique per channel and account for as long as the platform may repeat it: the dedupe key. */
  readonly eventKey: string
  readonly address: Address
  readonly sender: Sender
  /** The names of the chat and the topic, where the platform says them along with the event. */
  readonly titles?: Titles
  /** The platform's own time stamp, ms since the epoch. */
  readonly sentAt: number
}

/** The fields that messages, edits and commands share. */
interface TextFacts extends InboundFacts {
  readonly messageId: string
  /** Raw text as the person wrote it: never tagged, never trimmed. */
  readonly text: string
  /**
   * The sender mentioned the bot by entity, or replied to one of its messages. A mention in somebody else's words is
   * not theirs. Always true in direct chats.
   */
  readonly mentioned: boolean
  /** Somebody else was mentioned. */
  readonly mentionsOthers: boolean
  readonly quoted?: QuotedMessage
  readonly forwarded?: Forwarded
  /** The bot that wrote the text for the sender (Telegram's inline bots). */
  readonly via?: Sender
  readonly attachments: readonly AttachmentRef[]
  /** Read back from the platform, which shows an answer of ours to it. */
  readonly answered?: true
  /** The topic that an answer to this message begins: if it is answered, it is routed and answered there. */
  readonly opens?: string
}

export interface InboundMessage extends TextFacts {
  readonly kind: 'message'
}

/**
 * `/name arguments`, recognised by the platform's own entity and always the sender's own words: a command for another
 * bot never becomes one, nor does a text that somebody else wrote.
 */
export interface InboundCommand extends TextFacts {
  readonly kind: 'command'
  /** Lower case, without slash and bot name. */
  readonly name: string
  readonly args: string
  /**
   * An opaque handle for the answer, where the command came by the platform's own menu or a button, and not as a
   * message.
   */
  readonly answerBy?: string
}

export interface InboundEdit extends TextFacts {
  readonly kind: 'edit'
  /** The event key of the message as it first arrived. */
  readonly original: string
}

/** A deleted message. Not every platform says who deleted it, so the sender may be the author or nobody. */
export interface InboundDelete extends InboundFacts {
  readonly kind: 'delete'
  readonly messageId: string
  /** The event key of the message as it first arrived. */
  readonly original: string
}

export interface InboundReaction extends InboundFacts {
  readonly kind: 'reaction'
  readonly messageId: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** The bot itself was added to or removed from a chat, or may no longer write there. */
export interface InboundMembership extends InboundFacts {
  readonly kind: 'membership'
  readonly status: 'joined' | 'left' | 'restricted'
  readonly chatTitle?: string
}

/** The chat got a new id; rules, sessions and links must move with it. */
export interface InboundMigration extends InboundFacts {
  readonly kind: 'migration'
  readonly to: Address
}

/**
 * Everything that can arrive from a platform. A kind an adapter does not know is dropped and counted, never guessed.
 */
export type InboundEvent =
  | InboundMessage
  | InboundCommand
  | InboundEdit
  | InboundDelete
  | InboundReaction
  | InboundMembership
  | InboundMigration

/** The kinds that carry text somebody may want answered. */
export type InboundText = InboundMessage | InboundCommand | InboundEdit

/**
 * Returns true for a file that shows a model words which its sender need not have written: those of its name, and its
 * content.
 */
export function showsForeignWords({ fileName, media }: AttachmentRef): boolean {
  return fileName !== undefined || media !== undefined
}

/** Returns whether the text was not written by its sender: forwarded, shared, or written by an inline bot. */
export function hasForeignText({ forwarded, via }: { readonly forwarded?: Forwarded; readonly via?: Sender }): boolean {
  return via !== undefined || (forwarded !== undefined && forwarded.text === undefined)
}

/** Which message of a session is meant: the platform's id, and the chat where the session joins several. */
export interface MessageName {
  readonly messageId?: string
  readonly chat?: string
}
