import type { ChannelKind } from './api-types.ts'

export type UserRef = string | { readonly id: string }
export type ChannelRef = string | { readonly id: string }
/** A message of a channel that is named beside it. */
export type MessageRef = string | { readonly ts: string }

export interface NewUser {
  /** Default: counted up from U1001. */
  id?: string
  name: string
  displayName?: string
  /** Another workspace: the user comes by Slack Connect. */
  team?: string
  isBot?: boolean
}

export interface NewChannel {
  /** `im`: the direct chat of two people, where no bot is. */
  kind?: ChannelKind
  name: string
  id?: string
  members?: readonly UserRef[]
  /** Whether the bot was invited. Default true. */
  botJoined?: boolean
}

export interface Say {
  from: UserRef
  /** Default: the direct chat with the bot. */
  channel?: ChannelRef
  text: string
  /** The message whose thread it is a reply in. */
  thread?: MessageRef
  /** Further fields, laid over the built ones: a subtype, a bot_id, a nonsense value. */
  extra?: Readonly<Record<string, unknown>>
}

export interface Slash {
  from: UserRef
  /** Default: the direct chat with the bot. Threads take no slash commands. */
  channel?: ChannelRef
  /** One the app declares, such as `/parley`. */
  command: string
  text?: string
}

export interface EditSaid {
  channel: ChannelRef
  message: MessageRef
  text: string
  /** A link in it now leads to this message, which is shown beside it. */
  shares?: Share['of']
}

export interface Share {
  from: UserRef
  /** Default: the direct chat with the bot. */
  channel?: ChannelRef
  thread?: MessageRef
  /** The message, and where it stands. */
  of: { channel: ChannelRef; message: MessageRef }
  /** The person's own words beside it. */
  text?: string
}
