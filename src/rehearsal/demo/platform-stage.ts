import type { WaitOptions } from '../ledger.ts'
import type { Character, Place } from './cast.ts'

/** A mention of the bot in the demo's texts, on any platform. */
export const MENTION = /@parley(_bot)?\b/g

/** A message of a person, with the position in the platform's ledger from which to look for the answer. */
export interface Said {
  readonly messageId: string
  readonly spot: Spot
  readonly mark: number
}

/** The place of a message and of its answer, in the form of the daemon's addresses. */
export interface Spot {
  readonly chat: string
  /** Null for the chat itself. */
  readonly topic: string | null
}

/** One version of a message of the bot, as people saw it. */
export interface Shown {
  readonly messageId: string
  readonly spot: Spot
  readonly text: string
  readonly change: 'sent' | 'edited' | 'deleted'
  /** The platform id of the only person who sees it, where it is an answer to a command of theirs. */
  readonly onlyFor?: string
}

export type MatchShown = (shown: Shown) => boolean

/** A platform of the demo: the people who speak there, and the bot's messages in its ledger. */
export interface PlatformStage {
  readonly title: string
  /** Sends a text; `MENTION` in it becomes the platform's own mention of the bot, a command the platform's own form. */
  say(who: Character, place: Place, text: string): Said
  /** Returns the place of the person's messages, in the form of the daemon's addresses. */
  spotOf(who: Character, place: Place): Spot
  mark(): number
  /** Resolves once the daemon is connected and receives. */
  listening(options: WaitOptions): Promise<void>
  /** Resolves with the first version that matches, and the ledger position after it. */
  next(match: MatchShown, options: WaitOptions): Promise<{ readonly shown: Shown; readonly end: number }>
  /** Returns every version since then, oldest first. */
  shown(after?: number): readonly Shown[]
  /** Returns the daemon's calls that the platform refused, or does not know. */
  refused(): readonly string[]
}

/** Returns a matcher of the bot's messages in that place. */
export function isIn(spot: Spot): MatchShown {
  return (shown) => shown.spot.chat === spot.chat && shown.spot.topic === spot.topic
}
