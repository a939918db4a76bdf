import type { ArchiveOperator } from '../core/operate-archives.ts'
import * as answers from './answers.ts'
import { type Answered, type Ask, type Client, named } from './remote-sessions.ts'

/** Returns the archives of a daemon behind its socket. */
export function remoteArchives(client: Client, ask: Ask): ArchiveOperator {
  const one = client().v1.archives[':name']
  const at = (name: string) => ({ param: { name: named(name) } })
  return {
    page: async (name, { after, limit }) => {
      const query = { after: String(after), limit: String(limit) }
      // An event holds whatever a model gave a tool, which no type of the wire describes.
      const answered: Promise<Answered<unknown>> = one.$get({ ...at(name), query })
      return ask(answers.archivePage, answered)
    },
    file: async (name, media) => ask(answers.archivedFile, one.files.$get({ ...at(name), query: { media } })),
    exported: async (name, record) => {
      await ask(answers.recorded, one.exported.$post({ ...at(name), json: record }))
    },
    relocate: async (name, request) => ask(answers.relocation, one.relocate.$post({ ...at(name), json: request })),
  }
}
