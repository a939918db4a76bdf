import { errorCode } from './errors.ts'
import type { SessionEvent } from './event.ts'
import type { ExportFormat } from './export-format.ts'
import { refuseForgottenMeanwhile } from './forgetting.ts'
import type { ArchiveOperator, SessionArchive } from './operate-archives.ts'

const PAGE = 200

interface ArchiveReading {
  readonly format: ExportFormat
  readonly came?: (seq: number, lastSeq: number) => void
}

/**
 * Returns a session that is read page by page as it is written. Every page ends where the session did at first: later
 * words belong to the next export. `came` is called with how far it is. Throws as `page` does, and `conflict` if
 * something was forgotten meanwhile. Only a bundle is given the opaque fields of steps.
 */
export async function openArchive(
  archives: Pick<ArchiveOperator, 'page' | 'file'>,
  name: string,
  { format, came = () => {} }: ArchiveReading,
): Promise<SessionArchive> {
  const opaque = format === 'bundle' ? { opaque: true } : {}
  const first = await archives.page(name, { after: 0, limit: PAGE, ...opaque })
  const { session } = first
  async function* pages(): AsyncIterable<readonly SessionEvent[]> {
    let { events } = first
    for (;;) {
      const last = events.at(-1)?.seq
      yield events.filter(({ seq }) => seq <= session.lastSeq)
      if (last === undefined || last >= session.lastSeq) break
      came(last, session.lastSeq)
      events = (await archives.page(session.id, { after: last, limit: PAGE, ...opaque })).events
    }
    let [after, until] = [session.lastSeq, 0]
    do {
      const later = await archives.page(session.id, { after, limit: PAGE })
      refuseForgottenMeanwhile(later.events)
      until ||= later.session.lastSeq
      after = later.events.at(-1)?.seq ?? until
    } while (after < until)
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
