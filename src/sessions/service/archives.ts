import type { Caller } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { ExportFormat, ExportRecord } from '../../core/export-format.ts'
import type { MediaId } from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import { withoutOpaque } from '../../core/opaque.ts'
import { openArchive } from '../../core/open-archive.ts'
import type {
  ArchivedFile,
  ArchivedSession,
  ArchivePage,
  ArchiveQuery,
  SessionDownload,
} from '../../core/operate-archives.ts'
import { redactedWhole } from '../../core/redact-dispatch.ts'
import type { Relocation, RelocationRequest } from '../../core/relocation.ts'
import type { Session } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { filesIn } from '../export/transcript-rows.ts'
import { writeExport } from '../export/write-export.ts'
import { checkForgetting } from './check-forgetting.ts'
import { wholeName } from './find-session.ts'
import { NamedAudiences } from './named-audiences.ts'
import { type RelocateDeps, relocate } from './relocate.ts'
import { isOwner, noSuchSession } from './session-access.ts'

export interface ArchiveDeps {
  readonly store: Store
  readonly clock: Clock
  readonly media: Pick<MediaStore, 'read'>
  /** Returns a text without the values of configured secrets. */
  redact(text: string): string
  /** Absent where the store was opened without a daemon. */
  readonly places?: Pick<RelocateDeps, 'daemon' | 'channels'>
}

/** Reads sessions for exports, a page at a time, so that nothing else waits for a long one. */
export interface SessionArchives extends ArchivePages {
  download(caller: Caller, name: string, format: ExportFormat): Promise<SessionDownload>
  /** Throws `unavailable` without a daemon; else see `relocate`. */
  relocate(caller: Caller, name: string, request: RelocationRequest): Promise<Relocation>
}

const PAGE = { least: 1, most: 200 }

export function createArchives(deps: ArchiveDeps): SessionArchives {
  const { store, clock, media } = deps
  const named = new NamedAudiences()
  const archives: Omit<SessionArchives, 'download'> = {
    async page(caller, name, { after, limit, opaque = false }) {
      if (!Number.isInteger(limit) || limit < PAGE.least || limit > PAGE.most)
        throw new ParleyError('invalid', `limit must be ${PAGE.least} to ${PAGE.most}`)
      const since = await store.read.forgetting.removals()
      const session = await find(caller, name, deps)
      const logged = await store.read.events.since(session.id, after, limit)
      const events = opaque ? logged : logged.map(withoutOpaque)
      // Asked after each page: a forgetting that begins meanwhile ends the export.
      await checkForgetting(store.read, session, since)
      const redact = <Value>(value: Value): Value => redactedWhole(value, deps.redact)
      return { session: redact(await archived(session, store.read)), events: redact(events) }
    },

    async file(caller, name, id) {
      const session = await find(caller, name, deps)
      if (!(await names(session, id, store.read)))
        throw new ParleyError('not_found', `No message of ${session.id} has the file ${id}.`)
      return { media: id, base64: Buffer.from(await media.read(id)).toString('base64') }
    },

    async exported(caller, name, record) {
      const session = await find(caller, name, deps)
      const event = { type: 'session_exported', data: record } as const
      await store.write((tx) => tx.events.append(session.id, clock.now(), [event]))
    },

    async relocate(caller, name, request) {
      const session = await find(caller, name, deps)
      if (!deps.places) throw new ParleyError('unavailable', 'No daemon is running; "parley start" knows the chats.')
      return relocate(session, request, { store, clock, named, ...deps.places })
    },
  }
  return { ...archives, download: (caller, name, format) => openDownload(archives, { caller, name, format }) }
}

/** Nobody but an owner may take a session out of its place. */
async function find(caller: Caller, name: string, { store }: Pick<ArchiveDeps, 'store'>): Promise<Session> {
  if (!isOwner(caller)) throw new ParleyError('forbidden', 'Only an owner may export, move or fork a session.')
  const session = await store.read.sessions.resolve(wholeName(caller, name))
  if (!session) throw noSuchSession(name)
  return session
}

async function archived(session: Session, read: StoreReader): Promise<ArchivedSession> {
  const { id, scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata, agentProfile } = session
  const { createdAt, description, descriptionSource, lastSeq } = session
  return {
    ...{ id, scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata },
    ...(agentProfile === undefined ? {} : { agentProfile }),
    ...{ createdAt, description, descriptionSource, lastSeq },
    overrides: overridesOf(session),
    participants: await read.participants.of(id),
    authors: await read.authors.of(id),
  }
}

const FILE_PAGE = 500

async function names({ id }: Session, media: MediaId, read: StoreReader): Promise<boolean> {
  for (let after = 0; ; ) {
    const events: readonly SessionEvent[] = await read.events.since(id, after, FILE_PAGE)
    if (filesIn(events).includes(media)) return true
    const last = events.at(-1)
    if (last === undefined || events.length < FILE_PAGE) return false
    after = last.seq
  }
}

/** The parts of the archives that a download is made of. */
interface ArchivePages {
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
async function openDownload(
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
