import { saidIn } from '../../core/content-words.ts'
import { madeAt } from '../../core/ids.ts'
import type { Delivery } from '../../core/outbound.ts'
import type { StoreWriter } from '../../store/store.ts'
import { type OpenPorts, openSession } from './open-session.ts'
import type { Opening } from './session-draft.ts'

/**
 * Appends a delivered part to the session of its conversation, which is opened if there is none, so that an answer to
 * it makes sense there. A session that spoke into its own conversation has it on record already.
 */
export async function recordPost(
  tx: StoreWriter,
  place: Opening,
  delivered: Delivery,
  ports: OpenPorts,
): Promise<void> {
  const { sessionId, part, messageId, traceId } = delivered
  const session = await openSession(tx, place, ports)
  if (session.id === sessionId) return
  const data = {
    text: saidIn(part),
    traceId,
    ...(sessionId === undefined ? {} : { from: sessionId }),
    ...(messageId === undefined ? {} : { messageId }),
  }
  // The part may have waited long: a session that has the id since did not write it.
  if (sessionId !== undefined) await tx.authors.copy(sessionId, session.id, madeAt(delivered.id))
  await tx.events.append(session.id, place.dispatch.receivedAt, [{ type: 'assistant_posted', data }])
}
