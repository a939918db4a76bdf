import type { Charge } from '../core/budget.ts'
import type { CheckpointReason } from '../core/checkpoint.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AgentId, SessionId } from '../core/ids.ts'
import type { CheckpointOutcome, CheckpointSettings } from '../core/memory.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { StoreWriter } from '../store/store.ts'
import { createCheckpointRuns } from './checkpoint-runs.ts'
import { createPending } from './pending.ts'
import type { CheckpointDeps } from './run-checkpoint.ts'

export interface CheckpointServiceDeps extends CheckpointDeps {
  readonly settings: CheckpointSettings
  /** Returns true if this agent has a memory. */
  has(agent: AgentId): boolean
  /**
   * Returns true if somebody whom the agent knows takes part. The limits for strangers count turns, and a checkpoint is
   * none: strangers alone cause no call of a model by it.
   */
  isKnown(session: SessionIdentity): Promise<boolean>
  /** Returns true while a turn of the session runs. */
  busy(session: SessionId): boolean
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal
}

/** Starts a checkpoint when one of its conditions is met (S35). No answer waits for a checkpoint. */
export interface Checkpoints {
  /**
   * Called for each message of a session, before its turn, in its transaction: it cancels the idle one that was due
   * (S36).
   */
  heard(this: void, tx: Pick<StoreWriter, 'afterCommit'>, session: SessionIdentity, how: 'asked' | 'quiet'): void
  /** Called once the end of a turn is stored. */
  ended(this: void, session: SessionIdentity): void
  /** Owes the checkpoint of a session that is over, in the transaction that ends it. */
  oweLast(this: void, tx: StoreWriter, session: SessionIdentity): Promise<void>
  /** Runs what `oweLast` owed; called after its commit. */
  runLast(this: void, session: SessionIdentity): void
  /** Runs one now, charged to whoever asks for it. Rejects with what the model fails with. */
  now(this: void, session: SessionId, charge?: Charge): Promise<CheckpointOutcome>
  /** Resumes what an earlier process owed, and waits again for sessions that were talking; called at the start. */
  recover(this: void): void
}

const MINUTE_MS = 60_000
/** Sessions active within this time are waited for after a start. */
const RECENT_MS = 86_400_000
const MOST_RECENT = 200

export function createCheckpoints(deps: CheckpointServiceDeps): Checkpoints {
  const { store, clock, settings, has, isKnown, busy, stopping } = deps
  const pending = createPending(deps)
  const runs = createCheckpointRuns({ ...deps, pending })
  const { background, runOwed } = runs
  const idleMs = settings.idleMinutes * MINUTE_MS

  async function due(session: SessionIdentity, reason: CheckpointReason): Promise<void> {
    if (runs.has(session.id) || stopping.aborted || !(await isKnown(session))) return
    await store.write((tx) => tx.checkpoints.owe(session.id, reason, clock.now()))
    failpoint('CP26-checkpoint-owed')
    await runOwed(session.id, reason)
  }

  function waitIdle(session: SessionIdentity, ms = idleMs): void {
    pending.idle(session.id, ms, () => {
      if (!busy(session.id)) background(due(session, 'idle'))
    })
  }

  async function count(session: SessionIdentity, what: 'turns' | 'quiet'): Promise<void> {
    if (await pending.count(session.id, what)) await due(session, what === 'turns' ? 'turn_limit' : 'idle')
  }

  function said(session: SessionIdentity, how: 'asked' | 'quiet'): void {
    pending.cancelIdle(session.id)
    if (how === 'asked') return
    waitIdle(session)
    if (session.chatType !== 'direct') background(count(session, 'quiet'))
  }

  async function runLastOf(session: SessionIdentity): Promise<void> {
    if (await isKnown(session)) return runOwed(session.id, 'new_session')
    await store.write((tx) => tx.checkpoints.settle(session.id))
  }

  async function recover(): Promise<void> {
    const now = clock.now()
    for (const owed of await store.read.checkpoints.owed()) runs.resume(owed)
    for (const id of await store.read.checkpoints.unread(now - RECENT_MS, MOST_RECENT)) {
      const session = await store.read.sessions.get(id)
      if (session === undefined || !has(session.agentId) || pending.has(id)) continue
      // It may have been active by a clock that was ahead.
      const quietMs = Math.max(0, now - session.lastActivityAt)
      waitIdle(session, Math.max(0, idleMs - quietMs))
    }
  }

  return {
    heard(tx, session, how) {
      if (has(session.agentId)) tx.afterCommit(() => said(session, how))
    },
    ended(session) {
      if (!has(session.agentId)) return
      waitIdle(session)
      background(count(session, 'turns'))
    },
    async oweLast(tx, session) {
      if (has(session.agentId)) await tx.checkpoints.owe(session.id, 'new_session', clock.now())
    },
    runLast(session) {
      if (has(session.agentId)) background(runLastOf(session))
    },
    now: (session, charge) => runs.run(session, 'manual', charge),
    recover: () => background(recover()),
  }
}
