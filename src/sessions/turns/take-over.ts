import type { SessionId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Gives a new session the history of an older one. The older one loses its name, so it is taken over once (K27). */
export async function takeOverHistory(
  tx: StoreWriter,
  { id, older, at }: { readonly id: SessionId; readonly older: Session; readonly at: number },
): Promise<void> {
  await copyHistory(tx, { from: older.id, to: id, at })
  await tx.aliases.drop(older.scopeKey)
}

/** Copies the messages of another session and their authors into this one; the other one ends. */
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
 * Returns the older session with events under the first of these aliases: one whose key its caller gave, or that was
 * imported (K27). Canonical sessions, and the main session with them, are nobody's older session (K28, K29).
 */
export async function olderSession(
  tx: StoreWriter,
  { scopeKey: own, displayKey }: Pick<Session, 'scopeKey' | 'displayKey'>,
  aliases: readonly string[],
): Promise<Session | undefined> {
  // A key that its caller gave is the older name itself.
  if (own === displayKey) return undefined
  // An older program may have known the chat by the same hash.
  for (const alias of [...aliases, own]) {
    for (const scopeKey of await tx.aliases.carriers(alias)) {
      if (/^sk_v1_/i.test(scopeKey)) continue
      const session = await tx.sessions.current(scopeKey)
      // Its first event records that it began; everything after it is history.
      if (session && session.lastSeq > 1) return session
    }
  }
  return undefined
}
