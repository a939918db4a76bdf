import type { Caller } from '../../core/caller.ts'
import type { ExportFormat, ExportRecord } from '../../core/export-format.ts'
import type { MediaId } from '../../core/ids.ts'
import { openArchive } from '../../core/open-archive.ts'
import type { ArchivedFile, ArchivePage, ArchiveQuery, SessionDownload } from '../../core/operate-archives.ts'
import { writeExport } from '../export/write-export.ts'

/** The parts of the archives that a download is made of. */
export interface ArchivePages {
  page(caller: Caller, name: string, query: ArchiveQuery): Promise<ArchivePage>
  file(caller: Caller, name: string, media: MediaId): Promise<ArchivedFile>
  exported(caller: Caller, name: string, record: ExportRecord): Promise<void>
}

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
  const archive = await openArchive(
    {
      page: (at, query) => archives.page(caller, at, query),
      file: (at, media) => archives.file(caller, at, media),
    },
    name,
    { format },
  )
  const { id } = archive.session
  const { ending, mediaType } = FILES[format]
  async function* text(): AsyncIterable<string> {
    yield* writeExport(format, archive)
    await archives.exported(caller, id, { format })
  }
  return { fileName: `${id.replace(/[^A-Za-z0-9_-]+/g, '-')}.${ending}`, mediaType, text: text() }
}
