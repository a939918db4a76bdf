import type { Dispatch, ReadWords } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { SessionId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Throws `conflict` for words that were forgotten while they waited, as for a hook: of others, or of a schedule. */
export async function refuseStale(
  tx: StoreWriter,
  { sessions, since }: ReadWords,
  { schedule }: Pick<Dispatch, 'schedule'>,
): Promise<void> {
  const isGone = schedule !== undefined && (await tx.schedules.get(schedule.id)) === undefined
  if (isGone || (await tx.forgetting.hasRemovedSince(since, sessions)))
    throw new ParleyError('conflict', 'What this is made of was forgotten meanwhile.')
}

/**
 * Records that a session has words of everybody who wrote in those that a message is made of: whoever forgets theirs
 * finds them by that, also where the answer is delivered.
 */
export async function recordTheirAuthors(
  tx: StoreWriter,
  { sessions }: ReadWords,
  session: SessionId | undefined,
): Promise<void> {
  if (session !== undefined) for (const from of sessions) await tx.authors.copy(from, session)
}
