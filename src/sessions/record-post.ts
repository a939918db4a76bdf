import type { Dispatch, Route } from '../core/dispatch.ts'
import type { IdSource } from '../core/ids.ts'
import type { Delivery } from '../core/outbound.ts'
import type { StoreWriter } from '../store/store.ts'
import { openSession } from './open-session.ts'

/** Where a delivered text belongs, besides the session that wrote it. */
export interface PostPlace {
  readonly route: Route
  readonly dispatch: Dispatch
}

/**
 * Appends a delivered part to the session of the conversation it went to, which is opened if there is none, so that an
 * answer to it makes sense there. A session that spoke into its own conversation has it on record already.
 */
export async function recordPost(
  tx: StoreWriter,
  { route, dispatch }: PostPlace,
  delivered: Delivery,
  ids: IdSource,
): Promise<void> {
  const { sessionId, part, messageId, traceId } = delivered
  const session = await openSession(tx, route, dispatch, ids)
  if (session.id === sessionId) return
  const data = {
    text: part.plain,
    traceId,
    ...(sessionId === undefined ? {} : { from: sessionId }),
    ...(messageId === undefined ? {} : { messageId }),
  }
  await tx.events.append(session.id, dispatch.receivedAt, [{ type: 'assistant_posted', data }])
}
