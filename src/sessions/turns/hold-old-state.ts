import type { Clock } from '../../core/clock.ts'
import { NO_USAGE } from '../../core/model.ts'
import type { Store } from '../../store/store.ts'
import { recordEnd, type TurnEnding } from './record-turn.ts'

const NOT_RUN: TurnEnding = {
  kind: 'cancelled',
  outcome: 'silent',
  inbox: 'ignored: restored',
  usage: NO_USAGE,
  steps: 0,
}

/**
 * Holds, in one commit, what the database had queued, and ends what it had under way or waiting without an answer;
 * called at boot when it is an older copy, since all of that may have been answered after the copy was made (decision
 * 0013). People's messages stay in their sessions.
 */
export async function holdOldState({ read, write }: Store, clock: Clock): Promise<void> {
  const turns = await read.turns.interrupted()
  const sessions = await read.inbox.sessionsWaiting()
  const commands = await read.inbox.commandsWaiting()
  await write(async (tx) => {
    await tx.outbox.fence()
    await tx.restorations.hold()
    for (const turn of turns) {
      const session = await tx.sessions.get(turn.sessionId)
      if (!session) continue
      const { id, traceId, reply, startedAt } = turn
      await tx.turns.resume(id)
      await recordEnd(tx, { id, session, traceId, reply, startedAt }, clock.now(), NOT_RUN)
    }
    for (const session of sessions) await tx.inbox.settleWaiting(session, 'ignored: restored')
    for (const { id } of commands) await tx.inbox.settle(id, 'ignored: restored')
  })
}
