import type { Delivery } from '../core/outbound.ts'
import type { Store } from '../store/store.ts'
import type { NextAct } from './decide-attempt.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'

interface DeniedDeps {
  readonly store: Store
  sendAllowed(message: Speaker): SendVerdict
}

/**
 * How a part ends that was planned while it was allowed, waited for its slot, its channel or the next start, and may not
 * be said any more (T31). What is shown already is finished. Undefined: it may go.
 */
export async function deniedMeanwhile(
  { store, sendAllowed }: DeniedDeps,
  { sessionId, address, class: kind, op, state }: Delivery,
): Promise<Extract<NextAct, { kind: 'end' }> | undefined> {
  if (sessionId === undefined || kind === 'control' || op !== 'send') return undefined
  const session = await store.read.sessions.get(sessionId)
  const { allowed, because } = sendAllowed({ address, ...(session ? { session } : {}) })
  if (allowed) return undefined
  const left = state !== 'planned' && state !== 'waiting'
  return { kind: 'end', state: left ? 'given_up' : 'expired', reason: because }
}
