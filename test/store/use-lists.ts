import type { Namespace } from '../../src/core/caller.ts'
import type { SessionId } from '../../src/core/ids.ts'
import type { SqlRow, SqlValue } from '../../src/store/sql.ts'
import type { StoreReader, StoreWriter } from '../../src/store/store.ts'

/** Where sessions stand that have a word now, by their ids. */
const SHELVES: Readonly<Record<string, number | null>> = { 'web:new': null, 'web:older': 4 * 1_000, 'web:same': 0 }
const NOW = 20_000

/** Asks for pages of lists and totals. */
export async function readLists({ lists }: Pick<StoreReader, 'lists'>): Promise<void> {
  for (const inactive of [true, false]) {
    await lists.page({ limit: 1, inactive, activeSince: 1, after: { at: 1, id: 'web:1' as SessionId } })
    await lists.page({ limit: 1, inactive, activeSince: 1, namespace: 'web' as Namespace })
    await lists.page({ limit: 1, inactive, participants: ['telegram:1', 'discord:2'] })
  }
  await lists.page({
    limit: 1,
    inactive: true,
    namespace: 'web' as Namespace,
    after: { at: 1, id: 'web:1' as SessionId },
  })
  await lists.stored()
  await lists.joined()
}

/** Has sessions listed that were in no list, in another hour and in another part of the same hour. */
export async function useLists({ sessions }: Pick<StoreWriter, 'sessions'>): Promise<void> {
  for (const id of Object.keys(SHELVES)) await sessions.point(id as SessionId)
}

/**
 * Answers what these ask for. The list of all has an hour with so many sessions that they are counted by spans, others
 * come to be counted so.
 */
export function listAnswer(text: string, [of]: readonly SqlValue[]): SqlRow | undefined {
  if (/^(INSERT INTO session_counts|SELECT (sessions, )?by_span)/.test(text))
    return { sessions: 2_000, by_span: of === '' ? 1 : 0 }
  const shelf = SHELVES[String(of)]
  if (!text.startsWith('SELECT sessions.no, sessions.id, kind') || shelf === undefined) return undefined
  return {
    no: 1,
    id: String(of),
    kind: 'other',
    display_key: '',
    agent_id: 'main',
    parent_id: null,
    last_activity_at: NOW,
    inactive_at: null,
    shelf,
  }
}
