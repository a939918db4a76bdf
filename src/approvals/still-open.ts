import { type Approval, OPEN_MS } from '../core/approval.ts'
import type { Store } from '../store/store.ts'

/** Why nobody can answer a question any more. */
export type Over = 'answered' | 'ended' | 'too_old'

/**
 * Returns why a question is over: it is answered, its turn was stopped or ended without the call, its conversation has
 * begun anew, or it is too old. Undefined while it may be answered.
 */
export async function overBy(
  { read }: Pick<Store, 'read'>,
  approval: Approval,
  now: number,
): Promise<Over | undefined> {
  const { state, late, askedAt, turnId, sessionId } = approval
  if (state !== 'asked') return 'answered'
  if (now - askedAt > OPEN_MS) return 'too_old'
  const turn = await read.turns.get(turnId)
  const left = (await read.sessions.get(sessionId))?.inactiveAt !== undefined
  // `late` says that the turn has continued without the call; one that ended otherwise no longer wants it.
  const ended = turn?.state !== 'running' && !late
  return left || ended || turn?.state === 'cancelled' || turn?.state === 'quarantined' ? 'ended' : undefined
}

/**
 * Returns the questions that may still be answered, oldest first. A question whose turn was stopped is over, although
 * its row says `asked`.
 */
export async function stillOpen(store: Pick<Store, 'read'>, now: number): Promise<readonly Approval[]> {
  const asked = await store.read.approvals.open(now - OPEN_MS)
  const over = await Promise.all(asked.map((approval) => overBy(store, approval, now)))
  return asked.filter((_, index) => over[index] === undefined)
}
