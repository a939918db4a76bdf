import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { IdSource } from '../../core/ids.ts'
import { overridesOf, type Session, type SessionDraft } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import type { OverridesCache } from '../facts/overrides-cache.ts'
import { draftAfter, startSession } from '../turns/open-session.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { isAmongOthers, othersToo, refuseJoined } from './joined-session.ts'

export interface NewCommandDeps {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'abort'>
  readonly overrides: Pick<OverridesCache, 'set'>
}

/**
 * `/new`, S10: the old session turns inactive, and the scope key points to a new one from now on. What was set for the
 * conversation by hand goes with it: a chat that was told to be silent stays so. In a session that people of other chats
 * share it is the owner's, and in one that strangers share none of theirs.
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
  call: CommandCall,
  { store, clock, channels, ids, running, overrides }: NewCommandDeps,
): Promise<string> {
  refuseJoined(channels, call)
  if (isAmongOthers(channels, call)) throw othersToo()
  const { decision } = call
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current || isFresh(current)) return FRESH
  await running.abort(current.id)
  const fresh = await store.write(async (tx) => {
    // What was set while the turn was ending is carried over too, and another /new may have come first.
    const last = await tx.sessions.current(decision.route.scopeKey)
    if (!last || isFresh(last)) return undefined
    await tx.sessions.deactivate(last.id, clock.now())
    const draft = (): SessionDraft => draftAfter(last, ids)
    return startSession(tx, draft(), { at: clock.now(), draw: () => draft().id })
  })
  if (!fresh) return FRESH
  overrides.set(fresh, overridesOf(fresh), true)
  return 'Done: a fresh conversation. The old one is kept but no longer used.'
}

/** Nothing was said in it: another one in its place would be one more row. */
function isFresh({ messageCount, turnCount }: Session): boolean {
  return messageCount === 0 && turnCount === 0
}

const FRESH = 'This conversation is fresh already.'
