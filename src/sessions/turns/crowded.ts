import type { Address } from '../../core/address.ts'
import type { Decision, Dispatch } from '../../core/dispatch.ts'
import type { StoreReader } from '../../store/store.ts'
import type { PublicTurns } from './public-turns.ts'
import { MOST_OF_STRANGERS } from './record-turn.ts'
import { countedFor } from './started-turn.ts'
import type { TurnQueue } from './turn-queue.ts'

export interface CrowdDeps {
  readonly queue: TurnQueue
  readonly publicTurns: Pick<PublicTurns, 'admits' | 'enter'>
  /** Returns true if so much waits to be sent by this account that no turn of strangers should add to it. */
  crowded(address: Address): boolean
}

interface Asking {
  readonly dispatch: Dispatch
  readonly decision: Extract<Decision, { kind: 'run' }>
}

/**
 * Returns true if a stranger's message would begin a turn of its own while too many wait. One for a session in which a
 * turn runs begins none: it waits there.
 */
export async function isCrowded(
  { sessions }: Pick<StoreReader, 'sessions'>,
  { dispatch, decision }: Asking,
  { publicTurns, queue, crowded }: CrowdDeps,
): Promise<boolean> {
  const { publicFor, publicBy } = countedFor([{ dispatch, decision }])
  if (publicFor === undefined) return false
  if (publicTurns.admits(publicFor, publicBy) && !crowded(dispatch.reply.address)) return false
  const session = await sessions.current(decision.route.scopeKey)
  return session === undefined || queue.peek(session.id) === 'start'
}

/**
 * Returns the places behind a turn that strangers leave free: they fill half of them, so that a known person finds one,
 * and never too many.
 */
export function leftToOthers({ public: stranger }: Asking['decision'], { queue }: Pick<CrowdDeps, 'queue'>): number {
  return stranger ? Math.max(Math.floor(queue.max / 2), queue.max - MOST_OF_STRANGERS) : 0
}
