import type { TurnRef } from './session-tools.ts'

export interface WantedReaction {
  /** One emoji. */
  readonly emoji: string
  /** Words of the message; absent: the message that is answered. */
  readonly words?: string
}

/** Puts emoji on messages of a turn's conversation. The same again changes nothing, so that a crash doubles none. */
export interface PutsReactions {
  /**
   * Resolves once it stands there. Throws in words for the model: `not_found` for a message that is not there,
   * `forbidden` where nothing may be said, `invalid` for what the platform refuses, `unavailable` where nobody knows
   * that it arrived.
   */
  react(wanted: WantedReaction, turn: TurnRef, signal: AbortSignal): Promise<void>
}
