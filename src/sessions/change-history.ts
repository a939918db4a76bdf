import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { HistoryBoundary } from '../core/event.ts'
import type { SessionId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'

export interface HistoryDeps {
  readonly store: Store
  readonly clock: Clock
}

/**
 * Changes what the model is shown of a session from its next turn on; the log keeps everything (K33, K35, K36). `invalid`
 * for a boundary that makes no sense, `not_found` for a session nobody knows.
 */
export async function changeHistory(
  { store, clock }: HistoryDeps,
  session: SessionId,
  boundary: HistoryBoundary,
): Promise<void> {
  check(boundary)
  await store.write((tx) => tx.events.append(session, clock.now(), [{ type: 'history_boundary', data: boundary }]))
}

function check(boundary: HistoryBoundary): void {
  if (boundary.kind === 'truncated' && (!Number.isSafeInteger(boundary.turns) || boundary.turns < 0)) {
    throw new ParleyError('invalid', 'the turns to keep must be a whole number, 0 or more')
  }
  if (boundary.kind !== 'replaced') return
  // An empty text is refused by every model; with it each later turn would fail.
  if (boundary.exchanges.some(({ user, assistant }) => user.trim() === '' || assistant.trim() === '')) {
    throw new ParleyError('invalid', 'every exchange needs a text of the user and one of the assistant')
  }
}
