import type { WaitOptions } from '../ledger.ts'
import type { Character, Place } from './cast.ts'

/** How people of the demo address the bot, wherever they are. */
export const MENTION = /@parley(_bot)?\b/g

/** A message as somebody said it, with where in the platform's ledger to look for what follows. */
export interface Said {
  readonly messageId: string
  readonly spot: Spot
  readonly mark: number
}

/** Where a message stands and its answer belongs, as the daemon's addresses name it. */
export interface Spot {
  readonly chat: string
  /** Null: the chat itself. */
  readonly topic: string | null
}

/** One version of a message of the bot, as people saw it. */
export interface Shown {
  readonly messageId: string
  readonly spot: Spot
  readonly text: string
  readonly change: 'sent' | 'edited' | 'deleted'
}

export type MatchShown = (shown: Shown) => boolean

/** A platform of the demo: who speaks there, and what its ledger saw of the bot. */
export interface PlatformStage {
  readonly title: string
  /** `MENTION` in the text becomes the platform's own mention of the bot. */
  say(who: Character, place: Place, text: string): Said
  /** Returns where the person's messages to a place stand, as the daemon's addresses name it. */
  spotOf(who: Character, place: Place): Spot
  mark(): number
  /** Resolves once the daemon is connected and receives. */
  listening(options: WaitOptions): Promise<void>
  /** The first version that matches, and the ledger position after it. */
  next(match: MatchShown, options: WaitOptions): Promise<{ readonly shown: Shown; readonly end: number }>
  /** Every version since then, oldest first. */
  shown(after?: number): readonly Shown[]
  /** Calls of ours that the platform refused, or does not know. */
  refused(): readonly string[]
}

/** Returns a matcher of the bot's messages that stand there. */
export function isIn(spot: Spot): MatchShown {
  return (shown) => shown.spot.chat === spot.chat && shown.spot.topic === spot.topic
}
