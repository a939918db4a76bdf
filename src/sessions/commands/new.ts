import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { IdSource } from '../../core/ids.ts'
import { overridesOf } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import { draftAfter, startSession } from '../open-session.ts'
import type { OverrideBook } from '../override-book.ts'
import type { RunningTurns } from '../running-turns.ts'

export interface NewCommandDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'abort'>
  readonly overrides: Pick<OverrideBook, 'set'>
}

/**
 * `/new`, S10: the old session turns inactive, and the scope key points to a new one from now on. What was set for the
 * conversation by hand goes with it: a chat that was told to be silent stays so.
 */
export function newCommand(deps: NewCommandDeps): ChatCommand {
  return {
    name: 'new',
    description: 'Start a fresh conversation here',
    who: 'anyone',
    run: (call) => startOver(call, deps),
  }
}

async function startOver(
  { decision }: CommandCall,
  { store, clock, ids, running, overrides }: NewCommandDeps,
): Promise<string> {
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current) return 'This conversation is fresh already.'
  await running.abort(current.id)
  const fresh = await store.write(async (tx) => {
    await tx.sessions.deactivate(current.id, clock.now())
    return startSession(tx, draftAfter(current, ids), clock.now())
  })
  overrides.set(fresh, overridesOf(fresh), true)
  return 'Done: a fresh conversation. The old one is kept but no longer used.'
}
