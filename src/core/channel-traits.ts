import type { Address } from './address.ts'
import type { ChannelId } from './ids.ts'
import type { Dimension } from './session.ts'

/**
 * The differences between platforms as data: each adapter declares its own in `config.ts`, and no other code asks for a
 * channel by its name.
 */
export interface ChannelTraits {
  /** The platform's name for people: `Telegram`. */
  readonly name: string
  /**
   * `rooms`: topics stand beside each other and beside the root of the chat, everybody shares them, and a session's
   * name shows them inside its chat (K10). `threads`: somebody begins them inside a chat, and what holds there holds in
   * them.
   */
  readonly topics: 'rooms' | 'threads'
  /** A message that addresses the bot at the root of a channel begins a thread: it is in no session of the channel. */
  readonly rootBeginsThreads?: true
  /** Tell the channel's sessions apart unless its block says otherwise; absent: those of `session.dimensions`. */
  readonly dimensions?: readonly Dimension[]
  readonly ids: IdTraits
  /** Absent: no files are sent there. */
  readonly files?: FileTraits
  /**
   * The environment variables that are enough for one account, all of them together; none: the channel needs a file.
   */
  readonly variables: readonly AccountVariable[]
  /** The `mode` of an account in which it takes requests at its `listen`; absent: it never does. */
  readonly listensIn?: string
  /** Matches the platform's tokens, closely enough to distinguish them from those of another platform. */
  readonly token?: RegExp
  /** Says how to get the values of those variables; follows "Connect a … bot: ". */
  readonly firstSteps?: string
  /**
   * The address that opens a chat with the bot, the claim code filled in, written with `<username>` and `<code>`;
   * absent: the command is typed.
   */
  readonly claimLink?: string
  /** The mark before a typed `claim`, where the platform's client takes a slash for its own menu; absent: the slash. */
  readonly claimMark?: string
  /** The mark before a typed command, where the platform keeps the slash for its own; absent: the slash. */
  readonly commandMark?: string
}

/** The files that a platform takes of a bot. */
export interface FileTraits {
  /** Bytes of one file. */
  readonly mostBytes: number
  /** Pictures that it shows in the chat; all others are documents. */
  readonly pictures: { readonly mostBytes: number; readonly types: readonly string[] }
  /** Types of the recordings that it plays in the chat. */
  readonly voices: readonly string[]
}

export interface IdTraits {
  /** Ids that differ in case alone are two ids, so their case is kept (K5). */
  readonly caseSensitive: boolean
  /** An id is unique inside one team alone, and is written `<channel>:<team>/<id>` (F-H04). */
  readonly ofTeams: boolean
  /** Ids that stand for many people: whatever a list says, they identify nobody. */
  readonly shared: readonly string[]
  /** A direct chat has the id of the person at its other end. */
  readonly directChatIsPerson: boolean
  /** Matches the id of a person or bot, with its team where ids have one; absent: ids have no form of their own. */
  readonly form?: RegExp
  /** Says that form, after the words "an id": `is a number`. */
  readonly formInWords?: string
  /** Matches the id of a group; absent: it has the form of any other. */
  readonly groupForm?: RegExp
  /** Matches the id of a group in which each bot counts messages by itself; absent: all bots know them by one number. */
  readonly ownNumbers?: RegExp
  /** Ids with which the platform's own pages show what one looks like, in lower case, without their first letter. */
  readonly examples: readonly string[]
}

export interface AccountVariable {
  /** The setting of the account that refers to it. */
  readonly setting: string
  readonly variable: string
  /** Explains the variable where its name does not. */
  readonly hint?: string
}

/** By channel, in the order of the catalogue. */
export type TraitsByChannel = Readonly<Record<ChannelId, ChannelTraits>>

/** The entrances of our own: whoever comes by one has a name there and no platform. */
export const OWN_CHANNELS: readonly ChannelId[] = ['web', 'cli', 'api']

/** The channels there are. Made once from the catalogue and handed down. */
export interface Channels {
  /** Those of the catalogue, then our own channels. */
  readonly ids: readonly ChannelId[]
  /** The platforms alone. */
  readonly platforms: readonly ChannelId[]
  /** Those whose ids keep their case. */
  readonly caseSensitive: readonly ChannelId[]
  /** Ids with which the platforms' own pages show what one looks like, without their first letter. */
  readonly examples: readonly string[]
  /** Returns the traits of a channel; those of our own channels for one that the catalogue does not list any more. */
  traits(this: void, channel: ChannelId): ChannelTraits
}

export function createChannels(declared: TraitsByChannel): Channels {
  const platforms = Object.keys(declared)
  const byId = new Map(Object.entries(declared))
  for (const own of OWN_CHANNELS) byId.set(own, { ...OWN_CHANNEL, name: own })
  return {
    ids: [...platforms, ...OWN_CHANNELS],
    platforms,
    caseSensitive: platforms.filter((channel) => byId.get(channel)?.ids.caseSensitive),
    examples: platforms.flatMap((channel) => byId.get(channel)?.ids.examples ?? []),
    traits: (channel) => byId.get(channel) ?? OWN_CHANNEL,
  }
}

const OWN_CHANNEL: ChannelTraits = {
  name: 'a channel that is not there any more',
  topics: 'threads',
  ids: { caseSensitive: false, ofTeams: false, shared: [], directChatIsPerson: false, examples: [] },
  variables: [],
}

/** Returns true for a group in which each bot counts messages by itself. */
export function countsByBot({ traits }: Pick<Channels, 'traits'>, { channel, chat }: Address): boolean {
  return traits(channel).ids.ownNumbers?.test(chat) ?? false
}

/** Returns true for a channel that has such groups: what came late there may name the id that its group got since. */
export function hasOwnNumbers({ traits }: Pick<Channels, 'traits'>, channel: string): boolean {
  return traits(channel).ids.ownNumbers !== undefined
}

/** An id as rules, keys and lists compare it: trimmed, and in lower case where the platform's ids have no case. */
export function foldId({ caseSensitive }: Pick<IdTraits, 'caseSensitive'>, id: string): string {
  return caseSensitive ? id.trim() : id.trim().toLowerCase()
}
