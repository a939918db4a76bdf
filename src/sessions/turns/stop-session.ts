import type { Clock } from '../../core/clock.ts'
import type { SessionId } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'
import type { RunningTurns } from './running-turns.ts'

export interface StopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly running: Pick<RunningTurns, 'abort'>
}

export interface Stopped {
  /** A turn was running. */
  readonly stopped: boolean
  /** Messages that waited and will not be answered. */
  readonly dropped: number
}

/** Ends the running turn of a session and drops what waits behind it, on disk before it resolves (C17). */
export async function stopSession({ store, clock, running }: StopDeps, session: SessionId): Promise<Stopped> {
  const dropped = await store.write(async (tx) => {
    const messages = await tx.inbox.settleWaiting(session, 'cancelled')
    if (messages > 0) await tx.events.append(session, clock.now(), [{ type: 'messages_dropped', data: { messages } }])
    return messages
  })
  // A turn is stopped for good only once that is on disk: a crash must not bring it back.
  const ended = running.abort(session)
  await ended
  return { stopped: ended !== undefined, dropped }
}
