import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { IdSource, SessionId } from '../../core/ids.ts'
import type { Session, SessionDraft, SessionIdentity } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import { startSession } from '../turns/open-session.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { draftAfter } from '../turns/session-draft.ts'
import { isAmongOthers, othersToo, refuseJoined } from './joined-session.ts'
import { sessionWithOlder } from './older-conversation.ts'

export interface NewCommandDeps {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'abort'>
  readonly overrides: Pick<OverridesCache, 'set'>
  /** Looks through the session that ends for what is worth remembering. */
  readonly memory: {
    readonly checkpoints: {
      oweLast(tx: StoreWriter, session: SessionIdentity): Promise<void>
      runLast(session: SessionIdentity): void
    }
  }
}

/**
 * `/new` ends the session as inactive and points the scope key to a new one (S10). The overrides of the conversation
 * carry over, so a silenced chat stays silent. In a session that people of other chats share it is the owner's command,
 * and in one that strangers share no stranger may use it.
 */
export function newCommand(deps: NewCommandDeps): ChatCommand {
  return {
    name: 'new',
    description: 'Start a fresh conversation here',
    who: 'anyone',
    run: (call) => startOver(call, deps),
  }
}

async function startOver(call: CommandCall, deps: NewCommandDeps): Promise<string> {
  const { store, clock, channels, ids, running, overrides, memory } = deps
  const { checkpoints } = memory
  refuseJoined(channels, call)
  if (isAmongOthers(channels, call)) throw othersToo()
  const { decision } = call
  const current = await store.write((tx) => sessionWithOlder(tx, call, deps))
  if (!current || isFresh(current)) return FRESH
  await store.write((tx) => dropGivenCalls(tx, current.id, clock.now()))
  await running.abort(current.id)
  const ended = await store.write(async (tx) => {
    // Overrides that were set while the turn was ending carry over too, and another /new may have come first.
    const last = await tx.sessions.current(decision.route.scopeKey)
    if (!last || isFresh(last)) return undefined
    await tx.sessions.deactivate(last.id, clock.now())
    await checkpoints.oweLast(tx, last)
    const draft = (): SessionDraft => draftAfter(last, ids)
    return { last, session: await startSession(tx, draft(), { at: clock.now(), draw: () => draft().id }) }
  })
  if (!ended) return FRESH
  const { last, session: fresh } = ended
  // Nobody waits for it, and whether it succeeds changes nothing of the fresh conversation.
  checkpoints.runLast(last)
  overrides.set(fresh, overridesOf(fresh), true)
  return 'Done: a fresh conversation. The old one is kept but no longer used.'
}

/** Drops calls that were allowed late and have not begun: they would begin as soon as the running turn has ended. */
async function dropGivenCalls(tx: StoreWriter, session: SessionId, at: number): Promise<void> {
  const waiting = await tx.inbox.waiting(session, MOST_DROPPED)
  const rows = waiting.filter(({ dispatch: { posted } }) => posted?.approval !== undefined).map(({ id }) => id)
  if (rows.length === 0) return
  for (const id of rows) await tx.inbox.settle(id, 'cancelled')
  await tx.events.append(session, at, [{ type: 'messages_dropped', data: { messages: rows.length, rows } }])
}

const MOST_DROPPED = 1_000

/** A session without a message needs no successor. */
function isFresh({ messageCount, turnCount }: Session): boolean {
  return messageCount === 0 && turnCount === 0
}

const FRESH = 'This conversation is fresh already.'
