import { resolve } from 'node:path'
import { EXIT } from '../../core/errors.ts'
import type { ExportFormat } from '../../core/export-format.ts'
import { openArchive } from '../../core/open-archive.ts'
import { askOperator } from '../ask-operator.ts'
import { byTitle } from '../named-session.ts'
import type { CliPorts } from '../ports.ts'
import { createProgress } from '../print/progress.ts'
import { count } from '../print/status.ts'
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
    const archive = await byTitle(sessions, name, (one) => openArchive(archives, one, { format, came: progress.at }))
    const bytes = await writePrivately(path, ports.writeExport(format, archive), { force, now: ports.now() })
    progress.end()
    await archives.exported(archive.session.id, { format, path })
    return { session: archive.session.id, format, path, bytes, events: archive.session.lastSeq }
  }).finally(progress.end)
  show(ports, options, {
    value: done,
    lines: () => [`${done.session}: ${count(done.events, 'event')} as ${format} in ${path}, readable by you alone.`],
  })
  return EXIT.ok
}
