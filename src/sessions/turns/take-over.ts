import type { SessionId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { StoreWriter } from '../../store/store.ts'

/**
 * A session that begins takes over the history of an older one. That gives its name up, so it is taken over once (K27).
 */
export async function takeOverHistory(
  tx: StoreWriter,
  { id, older, at }: { readonly id: SessionId; readonly older: Session; readonly at: number },
): Promise<void> {
  const events = await tx.events.copy(older.id, id)
  await tx.authors.copy(older.id, id)
  await tx.events.append(id, at, [{ type: 'history_taken_over', data: { from: older.id, events } }])
  await tx.aliases.drop(older.scopeKey)
  await tx.sessions.deactivate(older.id, at)
}

/**
 * The first of these aliases under which an older session with events was kept: one whose key its caller gave, or that
 * was imported (K27). Canonical sessions, and the main session with them, are nobody's older session (K28, K29).
 */
export async function olderSession(tx: StoreWriter, aliases: readonly string[]): Promise<Session | undefined> {
  for (const alias of aliases) {
    for (const scopeKey of await tx.aliases.carriers(alias)) {
      if (/^sk_v1_/i.test(scopeKey)) continue
      const session = await tx.sessions.current(scopeKey)
      // Its first event says that it began; whatever follows is history.
      if (session && session.lastSeq > 1) return session
    }
  }
  return undefined
}
