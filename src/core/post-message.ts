import type { TurnRef } from './session-tools.ts'

/** A text for another conversation, said there as it is. */
export interface ElsewhereText {
  /** Any name of the conversation's session. */
  readonly to: string
  /** Markdown. */
  readonly text: string
}

/** Says texts of one conversation in another; each call by its id, so that one repeated after a crash says it once. */
export interface PostsMessages {
  /**
   * Plans the message and returns the conversation by its key; it leaves by the one exit, with the send policy of the
   * place. Throws `not_found` for a conversation that is not there or beyond reach and that nobody has allowed, and
   * `invalid` for one without a chat and for a text that is empty or too long.
   */
  post(request: ElsewhereText, turn: TurnRef, callId: string): Promise<{ readonly to: string }>
}
