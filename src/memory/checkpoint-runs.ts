import pLimit from 'p-limit'
import { backOffMs } from '../core/backoff.ts'
import type { Charge } from '../core/budget.ts'
import type { CheckpointReason } from '../core/checkpoint.ts'
import { errorCode } from '../core/errors.ts'
import type { SessionId } from '../core/ids.ts'
import type { CheckpointOutcome } from '../core/memory.ts'
import type { OwedCheckpoint } from '../store/memory-port.ts'
import type { PendingCheckpoints } from './pending.ts'
import { type CheckpointDeps, runCheckpoint } from './run-checkpoint.ts'

export interface CheckpointRunDeps extends CheckpointDeps {
  readonly pending: PendingCheckpoints
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal
}

/** The checkpoints that run, one at a time in a session. */
export interface CheckpointRuns {
  has(session: SessionId): boolean
  /** Runs one, or says that one runs. Rejects with what the model fails with. */
  run(session: SessionId, reason: CheckpointReason, charge?: Charge): Promise<CheckpointOutcome>
  /** Runs one that is owed; a failure puts it off, longer each time. */
  runOwed(session: SessionId, reason: CheckpointReason, attempts?: number): Promise<void>
  /** Runs what an earlier process owed, at its time. */
  resume(owed: OwedCheckpoint): void
  /** Lets work continue that nobody waits for. */
  background(work: Promise<void>): void
}

/** Checkpoints that run at a time. */
const AT_ONCE = 2
const PACE = { firstMs: 60_000, longestMs: 6 * 3_600_000 }
/** After so many failures it waits for its condition to be met again. */
const MOST_ATTEMPTS = 8

export function createCheckpointRuns(deps: CheckpointRunDeps): CheckpointRuns {
  const { store, clock, logger, pending, stopping } = deps
  const running = new Set<SessionId>()
  const inTurn = pLimit(AT_ONCE)

  async function run(session: SessionId, reason: CheckpointReason, charge?: Charge): Promise<CheckpointOutcome> {
    if (running.has(session)) return { kind: 'running' }
    running.add(session)
    pending.begun(session)
    try {
      const outcome = await inTurn(() => runCheckpoint(deps, { session, reason, charge }, stopping))
      pending.done(session)
      return outcome
    } finally {
      running.delete(session)
    }
  }

  async function runOwed(session: SessionId, reason: CheckpointReason, attempts = 0): Promise<void> {
    try {
      const { kind } = await run(session, reason)
      // The checkpoint that runs already settles this one too; if it fails, this one is due after the wait.
      if (kind === 'running') pending.retry(session, PACE.firstMs, () => background(runOwed(session, reason, attempts)))
    } catch (err) {
      if (!stopping.aborted) await putOff(err, { session, reason, attempts: attempts + 1 })
    }
  }

  async function putOff(
    err: unknown,
    { session, reason, attempts }: { session: SessionId; reason: CheckpointReason; attempts: number },
  ): Promise<void> {
    if (attempts >= MOST_ATTEMPTS) {
      pending.done(session)
      await store.write((tx) => tx.checkpoints.settle(session))
      logger.warn('A checkpoint failed too often and is given up', { sessionId: session, reason, err })
      return
    }
    // After a change of the messages it is repeated at once.
    const waitMs = errorCode(err) === 'conflict' ? 0 : backOffMs(attempts, PACE)
    await store.write((tx) => tx.checkpoints.putOff(session, clock.now() + waitMs))
    pending.retry(session, waitMs, () => background(runOwed(session, reason, attempts)))
    logger.warn('A checkpoint failed and is tried again later', { sessionId: session, reason, err, waitMs })
  }

  function resume({ sessionId, reason, attempts, notBefore }: OwedCheckpoint): void {
    // The clock by which it was put off may have been ahead.
    const waitMs = Math.min(Math.max(0, notBefore - clock.now()), PACE.longestMs)
    pending.retry(sessionId, waitMs, () => background(runOwed(sessionId, reason, attempts)))
  }

  function background(work: Promise<void>): void {
    work.catch((err: unknown) => {
      if (!stopping.aborted) logger.error('A checkpoint broke off', { err })
    })
  }

  return { has: (session) => running.has(session), run, runOwed, resume, background }
}
