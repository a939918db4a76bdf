import { type Clock, within } from '../core/clock.ts'
import type { Store } from '../store/store.ts'

const COMMIT_WITHIN_MS = 5_000

/** A platform that is out leaves the daemon healthy; a store that cannot write does not. */
export async function commitsInTime(store: Store, clock: Clock): Promise<boolean> {
  return within(
    clock,
    COMMIT_WITHIN_MS,
    store.write((tx) => tx.notices.once('watchdog', clock.now(), 0)),
  )
}
