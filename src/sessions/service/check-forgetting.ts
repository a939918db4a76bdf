import { ParleyError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'

/**
 * Throws `conflict` while something of a session is being forgotten, or was taken out of it since that many removals: a
 * copy or an export would keep it.
 */
export async function checkForgetting(
  { forgetting }: Pick<StoreReader, 'forgetting'>,
  { id, displayKey }: Session,
  since?: number,
): Promise<void> {
  const open = await forgetting.open()
  const isStale = since !== undefined && (await forgetting.hasRemovedSince(since, [id]))
  if (isStale || open.some(({ plan }) => plan.sessions.some((one) => one.id === id)))
    throw new ParleyError('conflict', `Something of ${displayKey} is being forgotten: try again in a moment.`)
}
