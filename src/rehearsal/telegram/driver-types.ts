import type { ApiChatType, ApiEntity, MemberStatus } from './api-types.ts'

/** A reference to a chat or a user: the id, or an object that carries it. */
export type ChatRef = number | { readonly id: number }
export type UserRef = number | { readonly id: number }
/** A message of a chat that is named beside it: the id, or an object that carries it. */
export type MessageRef = number | { readonly message_id: number }

export interface NewUser {
  firstName: string
  /** Default: counted up from 1001. */
  id?: number
  lastName?: string
  username?: string
  isBot?: boolean
  languageCode?: string
}

export interface NewChat {
  type: Exclude<ApiChatType, 'private'>
  title: string
  /** Default: counted down from -2001 (group) or -1001000000001 (supergroup, channel). */
  id?: number
  username?: string
  /** A supergroup with topics. Message 1 is its General topic, which carries no thread id. */
  forum?: boolean
  /** The channel whose discussion group this is: each of its posts comes here as well. */
  discusses?: ChatRef
  members?: readonly UserRef[]
  /**
   * The status of every bot of the server here. Default `member`, in a channel `administrator`; `none`: never joined.
   */
  botStatus?: MemberStatus | 'none'
}

export interface NewTopic {
  chat: ChatRef
  name: string
  by?: UserRef
  /** True to offer the service message as an update, as when the bot is listening. Default false. */
  announce?: boolean
}

export interface TopicRef {
  chat: ChatRef
  topic: number
}

export interface Say {
  /** The person. In a channel, or for an anonymous admin (`senderChat`), only the true writer. */
  from: UserRef
  /** Default: the private chat with the bot, opened by this message. */
  chat?: ChatRef
  /** The thread id of a forum topic; absent in a forum for the General topic. */
  topic?: number
  text: string
  replyTo?: MessageRef
  /** The entities in place of those found in the text (`@name`, `/command`, urls, hashtags). */
  entities?: readonly ApiEntity[]
  /** The chat itself (anonymous admin) or another chat (linked channel) as visible sender. */
  senderChat?: ChatRef
  /** The inline bot that wrote the text which the person picked. */
  via?: UserRef
  /** The bot a private message is for. Default: the first bot of the server. */
  bot?: UserRef
  /**
   * More fields for the message, laid over the built ones: a poll, a forward origin, a nonsense value. Only fields that
   * the platform knows; `raw` sends anything.
   */
  extra?: Readonly<Record<string, unknown>>
}

export interface Forward {
  /** The person who forwards. */
  from: UserRef
  /** Default: the private chat with the bot. */
  chat?: ChatRef
  topic?: number
  of: { chat: ChatRef; message: MessageRef }
  /** True if the writer's settings hide who they are: only their name is sent. */
  hidden?: boolean
  /** True to use the fields of a Bot API server before 7.0. */
  old?: boolean
}

export interface EditSaid {
  chat: ChatRef
  message: MessageRef
  text: string
  entities?: readonly ApiEntity[]
}

export interface Touch {
  chat: ChatRef
  message: MessageRef
  /** True if the platform says a time of editing, although nothing was edited. */
  dated?: boolean
  /** Fields that change without an edit of the text: a reply markup, a location. */
  extra?: Readonly<Record<string, unknown>>
}

export interface Press {
  from: UserRef
  chat: ChatRef
  /** The bot's message that carries the button. */
  message: MessageRef
  data: string
}

export interface Membership {
  chat: ChatRef
  status: MemberStatus
  /** Default: the first bot of the server. */
  user?: UserRef
  by?: UserRef
}

export interface Migrating {
  /** The chats that report the move. Default: first the old one, then the new one. */
  tell?: readonly ('leaving' | 'arriving')[]
}

export interface RawUpdate {
  /**
   * The update, offered unchanged. A string is its JSON text, byte for byte; an object without `update_id` gets the
   * next one.
   */
  update: string | Readonly<Record<string, unknown>>
  /** Default: the first bot of the server. */
  bot?: UserRef
}
