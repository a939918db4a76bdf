import { ParleyError } from '../../core/errors.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { withoutText } from '../people/kept-text.ts'

/** The events a purge deletes in one transaction, so that a long session does not delay the others. */
const BATCH = 200

/**
 * Removes a session from every list and from its scope key, inside one transaction, so that the next message there
 * opens a new one (C32). Only direct sessions can be deleted, and only while nothing runs or waits in them (S40):
 * throws `forbidden` or `conflict`. Returns the id to purge it by.
 */
export async function markDeleted(tx: StoreWriter, session: Session, at: number): Promise<SessionId> {
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
  return markGone(tx, session, at)
}

/** Does so with any session in which nothing runs or waits. */
export async function markGone(tx: StoreWriter, session: Session, at: number): Promise<SessionId> {
  await tx.participants.remove(session.id)
  await tx.authors.remove(session.id)
  await tx.approvals.remove(session.id)
  await tx.questions.remove(session.id)
  await tx.checkpoints.settle(session.id)
  await tx.memory.removeAll(session.id)
  await tx.keyedRequests.forgetAnswers()
  return tx.sessions.remove(session.id, at)
}

/** A deleted session, and the id to purge it by. */
export interface DeletedSession {
  readonly session: Session
  readonly purgeId: SessionId
}

/** Does the same for a session with those of the tasks it began, which hold its words. */
export async function markAllDeleted(
  tx: StoreWriter,
  session: Session,
  at: number,
): Promise<readonly DeletedSession[]> {
  const deleted = [{ session, purgeId: await markDeleted(tx, session, at) }]
  for (;;) {
    const { sessions } = await tx.sessions.list({ parents: [session.id], inactive: true, limit: BATCH, offset: 0 })
    if (sessions.length === 0) return deleted
    for (const child of sessions) deleted.push({ session: child, purgeId: await markDeleted(tx, child, at) })
  }
}

/**
 * Removes the events of a deleted session and its row (S41). The records of received and sent
 * messages stay without their text, as the account of who was answered when and why. Each batch is one transaction; a
 * purge that a crash interrupted is resumed at the next start.
 */
export async function purgeSession(store: Store, id: SessionId): Promise<void> {
  // Copies of older stores have the turns of the session they came from, which have answered in its chat (decision 0040).
  const [copied] = await store.read.events.latestOf(id, ['history_taken_over'], 1)
  const isOwn = ({ seq }: SessionEvent): boolean => seq > (copied?.seq ?? 0)
  for (;;) {
    const events = await store.read.events.since(id, 0, BATCH)
    const last = events.at(-1)
    if (!last) break
    await store.write(async (tx) => {
      for (const event of events) await forgetText(tx, id, event)
      const own = new Set(events.filter(isOwn).flatMap(({ turnId }) => turnId ?? []))
      for (const turn of own) await tx.outbox.blank(turn)
      await tx.events.remove(id, last.seq)
    })
  }
  await store.write((tx) => tx.sessions.purge(id))
}

/** Purges, in the background after the start, sessions that an earlier process deleted and did not purge. */
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
