import type { ApiAttachment, ApiUser } from './api-types.ts'

/** A reference: the id, or an object that carries it. */
export type Ref = string | { readonly id: string }

export interface NewUser {
  username: string
  /** Default: made up. */
  id?: string
  displayName?: string
  isBot?: boolean
  /** True if the person accepts no direct messages from the bot. */
  closedDirect?: boolean
}

export interface NewChannel {
  guild: Ref
  name: string
  id?: string
  /** 15 and 16 are a forum and a media channel, in which nobody writes but in threads. */
  type?: 0 | 5 | 15 | 16
}

export interface NewRole {
  guild: Ref
  name: string
  id?: string
  /** The bot for which the platform manages it. */
  bot?: Ref
}

export interface NewThread {
  /** The channel it belongs to. */
  channel: Ref
  name: string
  id?: string
  /** True if the bot is notified by THREAD_CREATE, the default. */
  announce?: boolean
  /** Whoever began it. Default: the bot. */
  owner?: Ref
}

/** The bot's rights in a channel; a thread has those of its parent. */
export type Access = 'full' | 'no_history' | 'read_only' | 'hidden'

export interface Slash {
  from: Ref
  /** Default: the direct chat with the bot. */
  channel?: Ref
  /** The command without its slash; it must be registered, as people are offered no other. */
  command: string
  /** The text of its one option. */
  input?: string
}

export interface Press {
  from: Ref
  channel: Ref
  message: Ref
  /** The data of the button; any text, as people's clients are not the platform's. */
  data: string
}

export interface Say {
  from: Ref
  /** A guild channel, thread or group. Default: the direct chat with the bot. */
  channel?: Ref
  text: string
  replyTo?: Ref
  /** The mentions in place of those found in the text (`<@id>`). */
  mentions?: readonly ApiUser[]
  attachments?: readonly ApiAttachment[]
  /** True if a webhook says it, under its id and the name of `from`. */
  webhook?: boolean
  /** Any fields of the platform's message object, laid over the built ones; one that it does not have is refused. */
  fields?: Readonly<Record<string, unknown>>
  /** More fields that nobody checks: a nonsense value. */
  extra?: Readonly<Record<string, unknown>>
}

export interface Forward {
  readonly from: Ref
  /** Default: the direct chat with the bot. */
  readonly channel?: Ref
  /** The message, and its channel. */
  readonly of: { readonly channel: Ref; readonly message: Ref }
}
