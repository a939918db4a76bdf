import type { CheckpointData } from '../core/checkpoint.ts'
import type { SessionId } from '../core/ids.ts'
import { endsWorking, WORKING_ENDS } from '../core/working-ends.ts'
import type { CheckpointPlace } from '../store/memory-port.ts'
import type { StoreReader } from '../store/store.ts'

/** A working memory, with the messages that it is made of. */
export type Working = Required<Pick<CheckpointData, 'working'>> & Pick<CheckpointData, 'sources'>

/** The newest events that are looked through for one with which it ended; of so many nobody knows. */
const MOST_ENDS = 1_000

/**
 * Returns the working memory of the newest checkpoint as long as it lasts, as the view of the session does: what was
 * made of words that were deleted or taken back since is shown to nobody, and no later checkpoint begins with it.
 */
export async function workingNow(
  { events }: { readonly events: Pick<StoreReader['events'], 'latestOf'> },
  session: SessionId,
  last: CheckpointPlace | undefined,
): Promise<Working | undefined> {
  const { working, sources } = last?.data ?? {}
  if (last === undefined || working === undefined) return undefined
  const made = { working, ...(sources ? { sources } : {}) }
  const later = (await events.latestOf(session, WORKING_ENDS, MOST_ENDS)).filter(({ seq }) => seq > last.seq)
  return later.length === MOST_ENDS || later.some((event) => endsWorking(made, event)) ? undefined : made
}
