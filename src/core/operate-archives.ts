import type { EventDraft, SessionEvent } from './event.ts'
import type { ExportFormat, ExportRecord } from './export-format.ts'
import type { MediaId } from './ids.ts'
import type { AuthorId } from './platform-id.ts'
import type { Relocation, RelocationRequest } from './relocation.ts'
import type { DescriptionSource, Session, SessionDraft } from './session.ts'
import type { SessionOverrides } from './session-settings.ts'

/** Sessions as they leave and change their place, as the operator asks for it. Nobody but an owner may. */
export interface ArchiveOperator {
  /**
   * Returns the events after number `after`, at most `limit` (1-200), in order, without the values of configured
   * secrets, and without the opaque fields of steps unless they are asked for. Throws `not_found`.
   */
  page(name: string, page: ArchiveQuery): Promise<ArchivePage>
  /** Returns a file that the session names. Throws `not_found`, also for a file of another session. */
  file(name: string, media: MediaId): Promise<ArchivedFile>
  /** Records in the session that it was exported (C42); it continues as before. */
  exported(name: string, record: ExportRecord): Promise<void>
  /**
   * Continues the session in another conversation. `asks` while more people could read it there and that is not
   * confirmed (F-H11). Throws `invalid`, `conflict` while a turn runs, or where there is more to it than was named,
   * `unavailable` without a daemon.
   */
  relocate(name: string, request: RelocationRequest): Promise<Relocation>
}

/** Sessions as files, which the API streams. */
export interface DownloadOperator {
  /**
   * Returns the session as a file that is written while it is read, and records the export once it was read to its end.
   * Throws `not_found`.
   */
  download(name: string, format: ExportFormat): Promise<SessionDownload>
}

/** A session as a file. */
export interface SessionDownload {
  readonly fileName: string
  readonly mediaType: string
  readonly text: AsyncIterable<string>
}

export interface ArchiveQuery {
  readonly after: number
  readonly limit: number
  /** With the opaque fields of steps, which only a bundle keeps (C26). */
  readonly opaque?: boolean
}

export interface ArchivePage {
  readonly session: ArchivedSession
  readonly events: readonly SessionEvent[]
}

/** The row of a session, with whose words it holds and who took part. */
export interface ArchivedSession extends Omit<SessionDraft, 'settingsOf' | 'parent'> {
  readonly createdAt: number
  /** Empty before the first message. */
  readonly description: string
  readonly descriptionSource: DescriptionSource
  readonly overrides: SessionOverrides
  readonly participants: readonly string[]
  readonly authors: readonly AuthorId[]
  /** The number of its newest event. */
  readonly lastSeq: Session['lastSeq']
}

export interface ArchivedFile {
  readonly media: MediaId
  readonly base64: string
}

/** A session that is read as it is written: once from the beginning, page by page. */
export interface SessionArchive {
  readonly session: ArchivedSession
  pages(): AsyncIterable<readonly SessionEvent[]>
  /** Returns the content of a file in base64; undefined if it is no longer there. */
  file(media: MediaId): Promise<string | undefined>
}

/** Returns an export of a session, piece by piece. The same session gives the same bytes. */
export type WriteExport = (format: ExportFormat, archive: SessionArchive) => AsyncIterable<string>

/** True for an event that says nothing about the conversation itself: an export would change the next one. */
export function isAboutExport({ type }: Pick<EventDraft, 'type'>): boolean {
  return type === 'session_exported'
}
