import { saidIn } from '../../core/content-words.ts'
import { madeAt, notifierOf } from '../../core/ids.ts'
import type { Delivery } from '../../core/outbound.ts'
import { NOBODY } from '../../core/platform-id.ts'
import { shownTokenId } from '../../core/token.ts'
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
  const { sessionId, source, part, messageId, traceId } = delivered
  const by = notifierOf(source)
  const session = await openSession(tx, place, ports)
  if (session.id === sessionId) return
  const data = {
    text: saidIn(part),
    traceId,
    ...(sessionId === undefined ? {} : { from: sessionId }),
    ...(by === undefined ? {} : { script: await scriptName(tx, by) }),
    ...(messageId === undefined ? {} : { messageId }),
  }
  // The part may have waited long: a session that has the id since did not write it.
  if (sessionId !== undefined) await tx.authors.copy(sessionId, session.id, madeAt(delivered.id))
  // A script says what it has read somewhere, whoever runs it.
  if (by !== undefined) await tx.authors.add(session.id, NOBODY)
  await tx.events.append(session.id, place.dispatch.receivedAt, [{ type: 'assistant_posted', data }])
}

/** Returns the name of a script: the label of its token, else the id, or the command line. */
async function scriptName({ tokens }: StoreWriter, { token }: { readonly token?: string }): Promise<string> {
  if (token === undefined) return 'the command line'
  const label = (await tokens.get(token))?.label ?? ''
  return label === '' ? shownTokenId(token) : label
}
