import type { ApiAttachment, ApiUser } from './api-types.ts'

/** Anything that names something: the id, or an object that carries it. */
export type Ref = string | { readonly id: string }

export interface NewUser {
  username: string
  /** Default: made up. */
  id?: string
  displayName?: string
  isBot?: boolean
  /** Takes no direct messages from the bot. */
  closedDirect?: boolean
}

export interface NewChannel {
  guild: Ref
  name: string
  id?: string
  type?: 0 | 5
}

export interface NewThread {
  /** The channel it hangs in. */
  channel: Ref
  name: string
  id?: string
  /** Tell the bot by THREAD_CREATE. Default true. */
  announce?: boolean
}

/** What the bot may do in a channel; threads take after their parent. */
export type Access = 'full' | 'read_only' | 'hidden'

export interface Slash {
  from: Ref
  /** Default: the direct chat with the bot. */
  channel?: Ref
  /** Without its slash; one that is registered, as people are offered no other. */
  command: string
  /** What is typed into its one option. */
  input?: string
}

export interface Say {
  from: Ref
  /** A guild channel, thread or group. Default: the direct chat with the bot. */
  channel?: Ref
  text: string
  replyTo?: Ref
  /** Instead of those found in the text (`<@id>`). */
  mentions?: readonly ApiUser[]
  attachments?: readonly ApiAttachment[]
  /** More fields, laid over the built ones: a webhook id, a service type, a nonsense value. */
  extra?: Readonly<Record<string, unknown>>
}

export interface Forward {
  readonly from: Ref
  /** Default: the direct chat with the bot. */
  readonly channel?: Ref
  /** The message, and where it stands. */
  readonly of: { readonly channel: Ref; readonly message: Ref }
}
