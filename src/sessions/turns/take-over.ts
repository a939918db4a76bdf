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
  await copyHistory(tx, { from: older.id, to: id, at })
  await tx.aliases.drop(older.scopeKey)
}

/** Has a session go on with what was said in another one, and with the authors of it; the other one ends. */
export async function copyHistory(
  tx: StoreWriter,
  { from, to, at }: { readonly from: SessionId; readonly to: SessionId; readonly at: number },
): Promise<void> {
  const events = await tx.events.copy(from, to)
  await tx.authors.copy(from, to)
  await tx.events.append(to, at, [{ type: 'history_taken_over', data: { from, events } }])
  await tx.sessions.deactivate(from, at)
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
