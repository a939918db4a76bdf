import { ParleyError } from '../core/errors.ts'
import type { MemoryEntry } from '../core/memory.ts'
import type { MemoryOperator, MemoryReport } from '../core/operate-memory.ts'
import { sessionTitle } from '../core/titles.ts'
import type { Store } from '../store/store.ts'
import { entriesFound } from './long-term.ts'

const MOST_LISTED = 50

/** Returns long-term memory as the operator sees it: all of it. */
export function operateMemory({ store }: { readonly store: Pick<Store, 'read' | 'write'> }): MemoryOperator {
  const { read } = store
  async function reportOf(entry: MemoryEntry): Promise<MemoryReport> {
    const { no, text, agentId, sessionId, authors, by, at } = entry
    const session = await read.sessions.get(sessionId)
    const title = session === undefined ? sessionId : sessionTitle(session)
    return { no, text, agent: agentId, session: sessionId, title, authors, by, at }
  }
  async function found(no: number): Promise<MemoryEntry> {
    const entry = await read.memory.get(no)
    if (entry === undefined) throw new ParleyError('not_found', `Nothing is remembered under ${no}.`)
    return entry
  }
  return {
    async list({ words = '', before }) {
      if (words.trim() === '') return Promise.all((await read.memory.all(MOST_LISTED, before)).map(reportOf))
      return Promise.all((await entriesFound(read, { words, limit: MOST_LISTED })).map(reportOf))
    },
    show: async (no) => reportOf(await found(no)),
    async remove(no) {
      const report = await reportOf(await found(no))
      await store.write((tx) => tx.memory.remove(no))
      return report
    },
  }
}
