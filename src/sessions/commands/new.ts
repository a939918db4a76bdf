import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { IdSource } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'
import { draftAfter, startSession } from '../open-session.ts'
import type { RunningTurns } from '../running-turns.ts'

export interface NewCommandDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'abort'>
}

/** `/new`, S10: the old session turns inactive, and the scope key points to a new one from now on. */
export function newCommand(deps: NewCommandDeps): ChatCommand {
  return {
    name: 'new',
    description: 'Start a fresh conversation here',
    who: 'anyone',
    run: (call) => startOver(call, deps),
  }
}

async function startOver({ decision }: CommandCall, { store, clock, ids, running }: NewCommandDeps): Promise<string> {
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current) return 'This conversation is fresh already.'
  await running.abort(current.id)
  await store.write(async (tx) => {
    await tx.sessions.deactivate(current.id, clock.now())
    await startSession(tx, draftAfter(current, ids), clock.now())
  })
  return 'Done: a fresh conversation. The old one is kept but no longer used.'
}
