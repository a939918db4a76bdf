import type { MediaPart } from './content.ts'
import type { MediaId } from './ids.ts'

/** The files of the conversations. They are kept under the data folder, each once, under the digest of its content. */
export interface MediaStore {
  /**
   * Keeps a file and returns its part. It stays as long as an event names it; until that is committed, ten minutes.
   * Throws `too_long` for more than `MOST_MEDIA_BYTES`.
   */
  keep(bytes: Uint8Array, name?: string): Promise<MediaPart>
  /** Throws `not_found` for a file that is not there, `unreadable` for one whose content is another by now. */
  read(id: MediaId): Promise<Uint8Array>
}

export const MOST_MEDIA_BYTES = 20_000_000
