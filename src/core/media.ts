import type { MediaPart } from './content.ts'
import type { MediaId } from './ids.ts'
import type { FileKind, FileReading } from './message.ts'

/** The files of the conversations. They are kept under the data folder, each once, under the digest of its content. */
export interface MediaStore {
  /**
   * Keeps a file and returns its part. It stays as long as an event names it; until that is committed, ten minutes.
   * Throws `too_long` for more than `MOST_MEDIA_BYTES`. `signal` ends what is done so that models can be shown it.
   */
  keep(bytes: Uint8Array, name?: string, signal?: AbortSignal): Promise<MediaPart>
  /** Throws `not_found` for a file that is not there, `unreadable` for one whose content is another by now. */
  read(id: MediaId): Promise<Uint8Array>
}

export const MOST_MEDIA_BYTES = 20_000_000

/** The largest picture that every provider of models takes. */
export const MOST_SHOWN_BYTES = 3_932_160

/** The answer of a platform that was asked for a file. */
export type FetchedFile =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  /** It will not give it; `reason` is in words for people and models. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It did not give it now. */
  | { readonly kind: 'failed'; readonly reason: string }

/** A file that came with a message and was fetched. */
export interface ArrivedFile {
  readonly bytes: Uint8Array
  /** The name under which it came: text for people, never a path. */
  readonly name: string
  /** Its kind in the words of the platform. */
  readonly kind: FileKind | undefined
}

/**
 * Keeps a file and finds out what of it a model can be shown. Never rejects: each mishap is a reason in words. Called
 * with the most characters of text that are wanted.
 */
export type ReadArrived = (file: ArrivedFile, longest: number, signal: AbortSignal) => Promise<FileReading>

/** The limits of files that come with messages. */
export interface FileLimits {
  /** Bytes of one file. */
  readonly maxBytes: number
  /** Files that a turn reads. */
  readonly maxFilesPerPrompt: number
  /** Bytes of all that one person sends within a day. */
  readonly perPersonPerDay: number
  /** Characters of one file's text that a model is shown. */
  readonly maxCharacters: number
}

export const DEFAULT_FILE_LIMITS: FileLimits = {
  maxBytes: MOST_MEDIA_BYTES,
  maxFilesPerPrompt: 10,
  perPersonPerDay: 200_000_000,
  maxCharacters: 20_000,
}
