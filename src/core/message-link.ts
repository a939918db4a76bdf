import type { ChannelId } from './ids.ts'

/** A message as the platform's own link names it. What the link does not say is absent. */
export interface MessageLink {
  readonly channel: ChannelId
  readonly messageId: string
  /** As `Address.chat`. */
  readonly chat?: string
  /** As `Address.topic`. */
  readonly topic?: string
}

/** How a message that somebody asks about is found on a platform, and why it may not be. */
export interface MessageLookup {
  /** Reads a link as people copy it; null for any other text. Pure. */
  readLink(text: string): MessageLink | null
  /** What the platform keeps from a bot without telling, each with its remedy. */
  readonly keepsBack: readonly string[]
}
