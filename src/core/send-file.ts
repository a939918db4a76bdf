import type { TurnRef } from './session-tools.ts'

export const SEND_FILE = 'send_file'

/** A file for the conversation of a turn: a text of the model's own, or a file that stands in the conversation. */
export type FileRequest = { readonly name?: string; readonly caption?: string } & (
  | { readonly text: string }
  /** A handle as the model is shown it, or the whole of it. */
  | { readonly handle: string }
)

/** Sends files where a turn answers; each call by its id, so that one repeated after a crash sends it once. */
export interface FileSender {
  /**
   * Plans the message and returns the file in words; it leaves by the one exit, with the send policy of the place.
   * Throws `not_found` for a handle that no event of the conversation names, `too_long` for a file that its platform
   * does not take, and `invalid` where nobody reads the answer and for what is no text or no name.
   */
  send(request: FileRequest, turn: TurnRef, callId: string): Promise<string>
}
