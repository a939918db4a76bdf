import type { AccountId, ChannelId } from './ids.ts'

/** A message as the platform's own link names it. What the link does not say is absent. */
export interface MessageLink {
  readonly channel: ChannelId
  readonly messageId: string
  /** The same value as `Address.chat`. */
  readonly chat?: string
  /** The same value as `Address.account`, where it is known: bots may number the messages of a chat on their own. */
  readonly account?: AccountId
  /** The same value as `Address.topic`. */
  readonly topic?: string
}

/** Finds a message on a platform by its link, and explains why it may be missing. */
export interface MessageLookup {
  /** Reads a link as people copy it; null for any other text. Pure. */
  readLink(text: string): MessageLink | null
  /** The messages that the platform withholds from a bot without notice, each with its remedy. */
  readonly keepsBack: readonly string[]
}
