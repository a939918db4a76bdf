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
  /** The organisation of several workspaces (Enterprise Grid), and the workspaces of it that the user is in. */
  enterprise?: { readonly id: string; readonly teams: readonly string[] }
  isBot?: boolean
}

export interface NewChannel {
  /** `im` is the direct chat of two people, without a bot. */
  kind?: ChannelKind
  name: string
  id?: string
  members?: readonly UserRef[]
  /** True if the bot was invited, the default. */
  botJoined?: boolean
  /** Shared with other workspaces by Slack Connect. */
  external?: boolean
}

export interface Say {
  from: UserRef
  /** Default: the direct chat with the bot. */
  channel?: ChannelRef
  text: string
  /** The message in whose thread this is a reply. */
  thread?: MessageRef
  /** Further fields of the platform's, laid over the built ones: a subtype, a bot_id, blocks, attachments, files. */
  extra?: Readonly<Record<string, unknown>>
}

export interface Slash {
  from: UserRef
  /** Default: the direct chat with the bot. Threads accept no slash commands. */
  channel?: ChannelRef
  /** A command that the app declares, such as `/parley`. */
  command: string
  text?: string
}

export interface Press {
  from: UserRef
  channel: ChannelRef
  /** The message above the button. */
  message: MessageRef
  /** The data of the button; any text, as people's clients are not the platform's. */
  value: string
}

export interface EditSaid {
  channel: ChannelRef
  message: MessageRef
  text: string
  /** The message that a link in the text now leads to; it is shown beside the text. */
  shares?: Share['of']
}

/** A change of a message that nobody need have edited: another app's update, a preview of a link, a call that ends. */
export interface Change {
  channel: ChannelRef
  message: MessageRef
  /** Laid over the message; one that is undefined is taken away. */
  fields: Readonly<Record<string, unknown>>
}

export interface Share {
  from: UserRef
  /** Default: the direct chat with the bot. */
  channel?: ChannelRef
  thread?: MessageRef
  /** The message, and its channel. */
  of: { channel: ChannelRef; message: MessageRef }
  /** The person's own words beside it. */
  text?: string
}
