import { ParleyError } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { withoutText } from '../people/kept-text.ts'

/** Events a purge takes away in one transaction, so that a long session does not hold up the others. */
const BATCH = 200

/**
 * Inside one transaction: takes a session out of every list and off its scope key, so that the next message there opens
 * a fresh one (C32). Only direct sessions, and only while nothing runs or waits in them (S40): `forbidden`, `conflict`.
 */
export async function markDeleted(tx: StoreWriter, session: Session, at: number): Promise<void> {
  if (session.chatType !== 'direct') {
    throw new ParleyError(
      'forbidden',
      `${session.id} belongs to a ${session.chatType} and is kept; /new there starts a fresh one.`,
    )
  }
  const runs = (await tx.turns.running()).some(({ sessionId }) => sessionId === session.id)
  if (runs || (await tx.inbox.waiting(session.id, 1)).length > 0) {
    throw new ParleyError('conflict', `${session.id} is being answered right now; delete it when that has ended.`)
  }
  await tx.sessions.remove(session.id, at)
}

/**
 * Removes the events of a deleted session, its participants and its row (S41). The records of what was received and
 * sent stay, as the account of who was answered when and why, without a word of what was said. Each batch is one
 * transaction; a purge that a crash broke off is taken up again at the next start.
 */
export async function purgeSession(store: Store, id: SessionId): Promise<void> {
  for (;;) {
    const events = await store.read.events.since(id, 0, BATCH)
    const last = events.at(-1)
    if (!last) break
    const gone = await store.write(async (tx) => {
      // A schedule's session has always the same id: this may be a new one already.
      if (await tx.sessions.get(id)) return false
      for (const event of events) await forgetText(tx, id, event)
      for (const turn of new Set(events.flatMap(({ turnId }) => turnId ?? []))) await tx.outbox.blank(turn)
      await tx.events.remove(id, last.seq)
      return true
    })
    if (!gone) return
  }
  await store.write(async (tx) => {
    if (await tx.sessions.get(id)) return
    await tx.participants.remove(id)
    await tx.authors.remove(id)
    await tx.sessions.purge(id)
  })
}

/** After the start, beside everything else: what an earlier process deleted and did not come to purge. */
export async function purgeLeftovers(store: Store, stopping: () => boolean): Promise<void> {
  while (!stopping()) {
    const [id] = await store.read.sessions.deleted(1)
    if (id === undefined) return
    await purgeSession(store, id)
  }
}

async function forgetText(tx: StoreWriter, session: SessionId, event: SessionEvent): Promise<void> {
  if (event.type !== 'user_message' || event.data.messageId === undefined) return
  for (const { id, dispatch } of await tx.inbox.inSession(session, event.data.messageId)) {
    await tx.inbox.replaceDispatch(id, withoutText(dispatch))
  }
}
