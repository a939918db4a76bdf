import type { Address } from './address.ts'
import type { MediaPart } from './content.ts'
import type { SessionId } from './ids.ts'

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

/** The kind of a file that came with a message, in the words of the platform. */
export type FileKind = 'photo' | 'document' | 'voice' | 'audio' | 'video' | 'animation' | 'sticker'

/** A file the platform holds, by its opaque reference. It is never a path or URL of a message. */
export interface AttachmentRef extends FileReading {
  readonly ref: string
  /** Absent where the platform does not say. It is not believed: what a file is, its content says. */
  readonly kind?: FileKind
  readonly mime?: string
  readonly fileName?: string
  /** Bytes, as the platform says. */
  readonly size?: number
  /** The rest that the platform says of it, in words: the emoji of a sticker, the length of a recording. */
  readonly about?: string
  /** It came with the message that this one answers, from whoever sent that. */
  readonly quoted?: true
  /** It came with the message that this one passes on beside its sender's own words. */
  readonly shared?: true
}

/** The outcome of reading a file for a turn; empty as long as no turn has read it. */
export interface FileReading {
  /** The file in the media store. */
  readonly media?: MediaPart
  /** The text of it that the model is shown. */
  readonly text?: string
  /** The words of its sender in a voice note of their own, unlike a text, which is nobody's. */
  readonly spoken?: string
  /** The part that was cut off, in words; absent for a text that is whole. */
  readonly cut?: string
  /** The words that stand beside the name of a text or picture: that its encoding is a guess, how it lies. */
  readonly note?: string
  /** The reason, in words, why its content is not shown. */
  readonly unread?: string
}

/** The outcome of reading the files of messages, for the turn that took them. */
export interface FilesReadData {
  readonly files: readonly ReadFile[]
}

/** The outcome for one file, which is named by its reference. */
export interface ReadFile extends FileReading {
  readonly ref: string
}

/** Returns true where the model is shown what is in a file, and nobody is known to have said it. */
export function isShown({ media, text }: FileReading): boolean {
  return text !== undefined || media?.type === 'image'
}

/** Characters of a line of `enclosed` that a model is shown; a list that is longer comes in several lines. */
export const LONGEST_ENCLOSED = 500

export interface QuotedMessage {
  readonly messageId: string
  readonly text?: string
  /** The text has words that its sender need not have written: those of a poll, a contact, a gift, of buttons. */
  readonly mixed?: true
  /** The writer of the text, not who passed it on; absent where the platform does not say. */
  readonly sender?: Sender
  /** The quoted message is one of ours. */
  readonly own: boolean
  /** The session that has said it, where it is one of ours. Without one no model is shown it. */
  readonly saidIn?: SessionId
  /** The time of the quoted message, ms since the epoch, where the platform says it. */
  readonly sentAt?: number
}

/** Returns true where a bot is quoted, which may be another one of ours in the same group. */
export function quotesOtherBot(
  quoted: Pick<QuotedMessage, 'own' | 'sender'> | undefined,
  chat: Address | undefined,
): boolean {
  return quoted?.own === false && quoted.sender?.kind === 'bot' && chat?.chatType !== 'direct'
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

/**
 * Somebody or something that a message names by the platform's own mark, which no typed characters become: a person or
 * an app, a group of people (a role, a user group, everybody here), or a place. The names are text, never authority.
 */
export interface Mention {
  readonly kind: 'person' | 'group' | 'place'
  /** The name that people there read; absent where it is not known. */
  readonly name?: string
  /** The name of the account, where the platform has one that is unique. */
  readonly username?: string
}

/** A part of something that the platform takes apart. */
export interface Piece {
  /** The same for all pieces of it and for nothing else, in whichever chat and by whomever. */
  readonly of: string
  /** More may come, within a second. */
  readonly more: boolean
  /** An earlier piece has come. */
  readonly begun?: true
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
  /**
   * The text as people there read it: never tagged, never trimmed. Mentions have names, an address behind a word stands
   * after it in brackets, and the marks that change the meaning (struck through, quoted, code) stand as Markdown.
   */
  readonly text: string
  /**
   * The sender mentioned the bot by entity, or replied to one of its messages. A mention in somebody else's words is
   * not theirs. Always true in direct chats.
   */
  readonly mentioned: boolean
  /** Somebody else was mentioned. */
  readonly mentionsOthers: boolean
  /** Everything it names besides this bot, in order, each once; absent where there is nothing. */
  readonly mentions?: readonly Mention[]
  readonly quoted?: QuotedMessage
  readonly forwarded?: Forwarded
  /** The bot that wrote the text for the sender (Telegram's inline bots). */
  readonly via?: Sender
  readonly attachments: readonly AttachmentRef[]
  /** Things that came with it beside text and files, one line each: a location, a contact, a poll. Nobody's words. */
  readonly enclosed?: readonly string[]
  /** It is a piece of what the sender sent as one: an album, a text that was too long for one message. */
  readonly piece?: Piece
  /** The post of a channel that the platform has copied here by itself: both have one event key, that of the post. */
  readonly copyOf?: { readonly chat: string; readonly messageId: string }
  /** Read back from the platform, which shows an answer of ours to it. */
  readonly answered?: true
  /** Written by this bot: part of a thread that is read back, and never received. */
  readonly own?: true
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
  /** Said outside of the topics of a chat that has some beside it, as in Telegram's General topic. */
  readonly besideTopics?: true
}

export interface InboundEdit extends TextFacts {
  readonly kind: 'edit'
  /** The event key of the message as it first arrived. */
  readonly original: string
  /** The time of that message, ms since the epoch, where its number alone does not say which it is. */
  readonly saidAt?: number
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

/** The sender has left the chat, or was put out of it: what is said there from then on is not for them. */
export interface InboundDeparture extends InboundFacts {
  readonly kind: 'departure'
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
  | InboundDeparture
  | InboundMigration

/** Returns when a message was sent, ms since the epoch: an edit has a time of its own. */
export function saidAt(event: InboundEvent): number {
  return (event.kind === 'edit' ? event.saidAt : undefined) ?? event.sentAt
}

/** The kinds that carry text somebody may want answered. */
export type InboundText = InboundMessage | InboundCommand | InboundEdit

/**
 * Returns true for a file that shows a model words which its sender need not have written: those of its name, what the
 * platform says of it, and its content. Of a voice note or a video the platform says the length alone, and a voice note
 * is called that.
 */
export function showsForeignWords({ kind, fileName, about, media, text }: AttachmentRef): boolean {
  const named = fileName !== undefined && kind !== 'voice'
  const described = about !== undefined && kind !== 'voice' && kind !== 'video'
  return named || described || media !== undefined || text !== undefined
}

/** Returns whether the text was not written by its sender: forwarded, shared, or written by an inline bot. */
export function hasForeignText({ forwarded, via }: { readonly forwarded?: Forwarded; readonly via?: Sender }): boolean {
  return via !== undefined || (forwarded !== undefined && forwarded.text === undefined)
}

/**
 * Returns the id of the message that somebody has replied to. In a thread of Slack every message answers the first one,
 * which nobody has chosen, and of which nothing more is said there; in a post of a forum of Discord somebody may reply
 * to the first.
 */
export function repliedTo({ quoted, address }: Pick<TextFacts, 'address' | 'quoted'>): string | undefined {
  const isChosen = quoted?.messageId !== address.topic || quoted?.sender !== undefined
  return isChosen ? quoted?.messageId : undefined
}

/** Which message of a session is meant: the platform's id, and the chat where the session joins several. */
export interface MessageName {
  readonly messageId?: string
  readonly chat?: string
}

/** Returns a text that distinguishes the messages of one session. */
export function messageNameKey({ messageId, chat }: MessageName): string {
  return `${chat ?? ''} ${messageId ?? ''}`
}
