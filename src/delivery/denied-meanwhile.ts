import type { Delivery } from '../core/outbound.ts'
import type { Store } from '../store/store.ts'
import type { SendVerdict, Speaker } from './plan-reply.ts'

interface DeniedDeps {
  readonly store: Store
  sendAllowed(message: Speaker): SendVerdict
}

/**
 * Returns the rule that now denies a part which was allowed when it was planned and then waited for its slot, its
 * channel or the next start (T31); undefined if it may go. A message that is shown already is finished.
 */
export async function deniedMeanwhile(
  { store, sendAllowed }: DeniedDeps,
  { sessionId, address, class: kind, op }: Delivery,
): Promise<string | undefined> {
  if (sessionId === undefined || kind === 'control' || op !== 'send') return undefined
  const session = await store.read.sessions.get(sessionId)
  const { allowed, because } = sendAllowed({ address, ...(session ? { session } : {}) })
  return allowed ? undefined : because
}
