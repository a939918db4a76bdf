import type { FileTraits } from './channel-traits.ts'
import type { MediaPart } from './content.ts'
import { sizeInWords } from './content-words.ts'
import { ParleyError } from './errors.ts'
import type { OutboundFile } from './outbound.ts'
import { sendableName } from './sendable-name.ts'
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

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'text/plain': 'txt',
  'audio/ogg': 'ogg',
}

/** Returns a file of the media store as it is sent. Throws `too_long` for one that the platform does not take. */
export function toOutbound(
  { media, mime, size, name = '' }: MediaPart,
  { mostBytes, pictures, name: platform }: FileTraits & { readonly name: string },
): OutboundFile {
  if (size > mostBytes)
    throw new ParleyError(
      'too_long',
      `The file has ${sizeInWords(size)}; ${platform} takes ${sizeInWords(mostBytes)} at most.`,
    )
  const shown = pictures.types.includes(mime) && size <= pictures.mostBytes
  const named = name.trim() === '' ? `${shown ? 'picture' : 'file'}.${ENDINGS[mime] ?? 'bin'}` : name
  return { media, mime, size, name: sendableName(named), as: shown ? 'picture' : 'document' }
}
