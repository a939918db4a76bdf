import { OPEN_MS, WAITS_MS } from '../core/approval.ts'
import type { Question } from '../core/question.ts'
import type { Store } from '../store/store.ts'

/** Why nobody can answer a question any more. */
export type QuestionOver = 'answered' | 'ended' | 'too_old'

/** Returns the time, ms since the epoch, after which a question is over; a tool server waits no longer than a turn. */
export function openUntil({ askedAt, server }: Pick<Question, 'askedAt' | 'server'>): number {
  return askedAt + (server === undefined ? OPEN_MS : WAITS_MS)
}

/**
 * Returns why a question is over: it is answered, its turn was stopped or ended without it, its conversation has begun
 * anew, or it is too old. Undefined while it may be answered.
 */
export async function overBy(
  { read }: Pick<Store, 'read'>,
  question: Question,
  now: number,
): Promise<QuestionOver | undefined> {
  const { state, late, turnId, sessionId, server } = question
  if (state === 'ended') return now > openUntil(question) ? 'too_old' : 'ended'
  if (state !== 'asked') return 'answered'
  if (now > openUntil(question) || (server !== undefined && late)) return 'too_old'
  const turn = await read.turns.get(turnId)
  const left = (await read.sessions.get(sessionId))?.inactiveAt !== undefined
  const ended = turn?.state !== 'running' && !late
  return left || ended || turn?.state === 'cancelled' || turn?.state === 'quarantined' ? 'ended' : undefined
}
