import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { PersonId } from '../core/ids.ts'
import type { Sender } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import type { EventToAppend, Store } from '../store/store.ts'
import type { Participants } from './participants.ts'
import type { Appended } from './record-turn.ts'

export interface AppendDeps {
  readonly store: Pick<Store, 'write'>
  readonly clock: Clock
  readonly participants: Participants
  /** Told after the commit. */
  emit(session: Pick<Session, 'id' | 'chatType'>, appended: Appended): void
}

export interface AppendRequest {
  readonly session: Pick<Session, 'id' | 'chatType'>
  readonly text: string
  readonly sender: Sender
  readonly person?: PersonId
  /** Whom the text makes a part of the session, as `participants` names them. */
  readonly participant?: string
}

/**
 * Puts a text into a session as context of its next prompt: stored, told to whoever listens, and answered by nobody
 * (S32). Throws `invalid` for an empty text, `not_found` for a session that is not there.
 */
export async function appendMessage(
  { store, clock, participants, emit }: AppendDeps,
  { session, text, sender, person, participant }: AppendRequest,
): Promise<Appended> {
  if (text.trim() === '') throw new ParleyError('invalid', 'There is nothing to append: the text is empty.')
  const at = clock.now()
  const fate = { owner: false, addressed: false, triggers: false }
  const data = { text, sender, ...fate, ...(person === undefined ? {} : { person }) }
  const events: readonly EventToAppend[] = [{ type: 'user_message', data }]
  let undo = (): void => {}
  const write = store.write(async (tx) => {
    const seq = await tx.events.append(session.id, at, events)
    if (participant !== undefined) {
      await participants.join(tx, { session: session.id, participant, at }, (failed) => {
        undo = failed
      })
    }
    return { seq, at, events }
  })
  write.catch(() => undo())
  const appended = await write
  emit(session, appended)
  return appended
}
