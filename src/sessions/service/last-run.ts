import { formatAddress } from '../../core/address.ts'
import type { SessionId } from '../../core/ids.ts'
import type { DeliveryState } from '../../core/outbound.ts'
import type { StoreReader } from '../../store/store.ts'

/** The outcome of a session's newest turns, computed when asked: for display, never for decisions (T37). */
export interface LastRun {
  /** True if the last turn reached a model, which was given the system prompt. */
  readonly systemSent?: boolean
  /** True if the last turn was stopped. */
  readonly abortedLastRun?: boolean
  /** The channel of the last delivery. */
  readonly lastChannel?: string
  readonly lastTo?: string
}

/** The states of a part that has left, or is leaving. */
const LEFT: readonly DeliveryState[] = ['sending', 'sent', 'resent', 'uncertain']

/** The ended turns that are searched for one that delivered something. */
const LOOKED_AT = 20

export async function lastRunOf(
  { events, outbox }: Pick<StoreReader, 'events' | 'outbox'>,
  session: SessionId,
): Promise<LastRun> {
  const ends = (await events.latestOf(session, ['turn_completed', 'turn_cancelled'], LOOKED_AT)).toReversed()
  const [last] = ends
  if (!last) return {}
  const steps = last.type === 'turn_completed' ? last.data.steps : 0
  const run = { systemSent: steps > 0, abortedLastRun: last.type === 'turn_cancelled' }
  for (const { turnId } of ends) {
    const sent = turnId && (await outbox.ofSource(turnId)).find(({ state }) => LEFT.includes(state))
    if (sent) return { ...run, lastChannel: sent.address.channel, lastTo: formatAddress(sent.address) }
  }
  return run
}
