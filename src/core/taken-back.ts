import type { InboxId, TurnId } from './ids.ts'

/** An exchange that was taken back: the messages that a turn answered, and what it did and said. */
export interface TakenBackData {
  readonly turn: TurnId
  /** The messages that it answered, by name; what was only said meanwhile is not among them, and stays. */
  readonly messages: readonly { readonly messageId?: string; readonly chat?: string }[]
  /** The row of the command: run again after a crash, it takes nothing more back. */
  readonly command: InboxId
  /** The messages follow once more, and another turn answers them. */
  readonly again?: true
}
