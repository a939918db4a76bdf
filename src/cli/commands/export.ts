import { resolve } from 'node:path'
import { EXIT, errorCode } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { ExportFormat } from '../../core/export-format.ts'
import { refuseForgottenMeanwhile } from '../../core/forgetting.ts'
import type { ArchiveOperator, SessionArchive } from '../../core/operate-archives.ts'
import { askOperator } from '../ask-operator.ts'
import { byKey } from '../named-session.ts'
import type { CliPorts } from '../ports.ts'
import { createProgress, type ProgressLine } from '../print/progress.ts'
import { type ReadOptions, show } from '../show.ts'
import { checkWritable, writePrivately } from '../write-privately.ts'

type ExportPorts = Pick<CliPorts, 'env' | 'cwd' | 'now' | 'stdout' | 'stderr' | 'load' | 'openOffline' | 'writeExport'>

export interface ExportOptions extends ReadOptions {
  readonly format: ExportFormat
  readonly out: string
  readonly force?: boolean
}

/** Writes a session to a file of its own, and then records that in the session. */
export async function exportSession(ports: ExportPorts, name: string, options: ExportOptions): Promise<number> {
  const { format, force = false } = options
  const path = resolve(ports.cwd, options.out)
  await checkWritable(path, force)
  const progress = createProgress(ports.stderr, 'events')
  const done = await askOperator(ports, await ports.load(options.config, 'ask'), async ({ archives, sessions }) => {
    const archive = await byKey(sessions, name, () => openArchive(archives, name, progress))
    const bytes = await writePrivately(path, ports.writeExport(format, archive), force)
    progress.end()
    await archives.exported(archive.session.id, { format, path })
    return { session: archive.session.id, format, path, bytes, events: archive.session.lastSeq }
  }).finally(progress.end)
  show(ports, options, {
    value: done,
    lines: () => [`${done.session}: ${done.events} events as ${format} in ${path}, readable by you alone.`],
  })
  return EXIT.ok
}

const PAGE = 200

/** Ends every page where the session did at first: later words belong to the next export. */
async function openArchive(archives: ArchiveOperator, name: string, progress: ProgressLine): Promise<SessionArchive> {
  const first = await archives.page(name, { after: 0, limit: PAGE })
  const { session } = first
  async function* pages(): AsyncIterable<readonly SessionEvent[]> {
    let { events } = first
    for (;;) {
      const last = events.at(-1)?.seq
      yield events.filter(({ seq }) => seq <= session.lastSeq)
      if (last === undefined || last >= session.lastSeq) break
      progress.at(last, session.lastSeq)
      events = (await archives.page(session.id, { after: last, limit: PAGE })).events
    }
    refuseForgottenMeanwhile((await archives.page(session.id, { after: session.lastSeq, limit: PAGE })).events)
  }
  return {
    session,
    pages,
    file: async (media) => {
      try {
        return (await archives.file(session.id, media)).base64
      } catch (error) {
        if (errorCode(error) === 'not_found' || errorCode(error) === 'unreadable') return undefined
        throw error
      }
    },
  }
}
