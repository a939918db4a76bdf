import { ParleyError } from '../../src/core/errors.ts'
import type { SessionEvent } from '../../src/core/event.ts'
import { type SessionId, toAgentId, toScopeKey } from '../../src/core/ids.ts'
import type { ArchivedSession } from '../../src/core/operate-archives.ts'
import type { SessionDetail } from '../../src/core/operate-sessions.ts'
import type { ApiService } from '../../src/core/operator.ts'

const archiveOf = (sampleSession: SessionDetail): ArchivedSession => ({
  id: sampleSession.id as SessionId,
  scopeKey: toScopeKey(sampleSession.scopeKey),
  scope: sampleSession.scope,
  agentId: toAgentId('main'),
  kind: 'group',
  displayKey: sampleSession.key,
  chatType: 'group',
  source: sampleSession.source,
  metadata: sampleSession.metadata,
  createdAt: sampleSession.createdAt,
  description: 'lunch plans',
  descriptionSource: 'fallback',
  overrides: {},
  participants: sampleSession.participants,
  authors: sampleSession.participants,
  lastSeq: 1,
})
const sampleLog: readonly SessionEvent[] = [
  { seq: 1, at: 1_795_269_802_000, type: 'session_started', data: { agent: 'main' } },
]

/** Answers the samples, and remembers what it was asked. */
export function fakeArchives(
  asked: unknown[],
  named: (name: string) => void,
  session: SessionDetail,
): ApiService['archives'] {
  const sampleArchive = archiveOf(session)
  return {
    async page(name, { after, limit }) {
      asked.push({ archive: name, after, limit })
      named(name)
      return { session: sampleArchive, events: sampleLog.filter(({ seq }) => seq > after).slice(0, limit) }
    },
    async file(name, media) {
      asked.push({ file: name, media })
      throw new ParleyError('not_found', `No message of ${name} has the file ${media}.`)
    },
    async download(name, format) {
      asked.push({ download: name, format })
      named(name)
      const text = (async function* () {
        yield 'text\n'
      })()
      return { fileName: 'session.md', mediaType: 'text/markdown', text }
    },
    async exported(name, record) {
      asked.push({ exported: name, ...record })
      named(name)
    },
    async relocate(name, request) {
      asked.push({ relocate: name, ...request })
      named(name)
      return { state: 'done', from: sampleArchive.id, session: sampleArchive.id, key: request.to }
    },
  }
}
