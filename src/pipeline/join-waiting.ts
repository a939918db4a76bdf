import type { Charge } from '../core/budget.ts'
import type { Content } from '../core/content.ts'
import type { Parting } from '../sessions/turns/parted.ts'
import { steerWaiting } from '../sessions/turns/record-turn.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import type { TurnQueue } from '../sessions/turns/turn-queue.ts'
import { type ChargeTurn, type FilesDeps, readFiles } from './read-files.ts'

export interface JoinDeps extends FilesDeps {
  readonly queue: TurnQueue
  readonly parting: Parting
  readonly charge: ChargeTurn
}

/** The payers for the calls of a turn, which change where somebody joins it. */
export interface Paying {
  charge: Charge | undefined
}

/**
 * Adds messages that came meanwhile to the turn, unless it is being stopped; the agent is shown them as the log has
 * them. Whoever wrote them pays as well from then on.
 */
export async function joinWaiting(
  deps: JoinDeps,
  turn: StartedTurn,
  { signal, paying }: { readonly signal: AbortSignal; readonly paying: Paying },
): Promise<readonly Content[]> {
  const { store, clock, queue, parting, transcript } = deps
  const rows = await store.write(async (tx) =>
    signal.aborted ? [] : steerWaiting(tx, turn, clock.now(), { queue, parting }),
  )
  if (rows.length === 0) return []
  paying.charge = await deps.charge(turn, 'joined')
  await transcript.view(turn.session)
  await readFiles(deps, turn, signal)
  const { running } = await transcript.view(turn.session)
  const joined = running?.steps.at(-1)
  return joined?.role === 'user' ? [joined.content] : []
}
