import type { Caller } from '../../core/caller.ts'
import { errorCode } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { ExportFormat, ExportRecord } from '../../core/export-format.ts'
import { refuseForgottenMeanwhile } from '../../core/forgetting.ts'
import type { MediaId } from '../../core/ids.ts'
import type {
  ArchivedFile,
  ArchivePage,
  ArchiveQuery,
  SessionArchive,
  SessionDownload,
} from '../../core/operate-archives.ts'
import { writeExport } from '../export/write-export.ts'

/** The parts of the archives that a download is made of. */
export interface ArchivePages {
  page(caller: Caller, name: string, query: ArchiveQuery): Promise<ArchivePage>
  file(caller: Caller, name: string, media: MediaId): Promise<ArchivedFile>
  exported(caller: Caller, name: string, record: ExportRecord): Promise<void>
}

const PAGE = 200

/** The ending of the file's name, and its type. */
const FILES: Readonly<Record<ExportFormat, { readonly ending: string; readonly mediaType: string }>> = {
  workflow: { ending: 'yaml', mediaType: 'application/yaml' },
  jsonl: { ending: 'jsonl', mediaType: 'application/x-ndjson' },
  markdown: { ending: 'md', mediaType: 'text/markdown; charset=utf-8' },
  bundle: { ending: 'parley', mediaType: 'application/x-ndjson' },
}

/** Returns a session as a file that is written while it is read; once all was read the export is on record (C42). */
export async function openDownload(
  archives: ArchivePages,
  { caller, name, format }: { readonly caller: Caller; readonly name: string; readonly format: ExportFormat },
): Promise<SessionDownload> {
  const archive = await openArchive(archives, caller, name)
  const { id } = archive.session
  const { ending, mediaType } = FILES[format]
  async function* text(): AsyncIterable<string> {
    yield* writeExport(format, archive)
    await archives.exported(caller, id, { format })
  }
  return { fileName: `${id.replace(/[^A-Za-z0-9_-]+/g, '-')}.${ending}`, mediaType, text: text() }
}

/** Ends every page where the session did at first: later words belong to the next export. */
async function openArchive(archives: ArchivePages, caller: Caller, name: string): Promise<SessionArchive> {
  const first = await archives.page(caller, name, { after: 0, limit: PAGE })
  const { session } = first
  async function* pages(): AsyncIterable<readonly SessionEvent[]> {
    let { events } = first
    for (;;) {
      const last = events.at(-1)?.seq
      yield events.filter(({ seq }) => seq <= session.lastSeq)
      if (last === undefined || last >= session.lastSeq) break
      events = (await archives.page(caller, session.id, { after: last, limit: PAGE })).events
    }
    refuseForgottenMeanwhile((await archives.page(caller, session.id, { after: session.lastSeq, limit: PAGE })).events)
  }
  return {
    session,
    pages,
    file: async (media) => {
      try {
        return (await archives.file(caller, session.id, media)).base64
      } catch (error) {
        if (errorCode(error) === 'not_found' || errorCode(error) === 'unreadable') return undefined
        throw error
      }
    },
  }
}
