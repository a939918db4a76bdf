import { formatAddress } from '../../core/address.ts'
import type { SessionId } from '../../core/ids.ts'
import type { DeliveryState } from '../../core/outbound.ts'
import type { StoreReader } from '../../store/store.ts'

/** What the newest turns of a session came to, worked out when asked: for display, never to decide by (T37). */
export interface LastRun {
  /** The last turn reached a model, which was given the system prompt. */
  readonly systemSent?: boolean
  /** The last turn was stopped. */
  readonly abortedLastRun?: boolean
  /** Where something was delivered last. */
  readonly lastChannel?: string
  readonly lastTo?: string
}

/** States of a part that has left, or is leaving. */
const LEFT: readonly DeliveryState[] = ['sending', 'sent', 'resent', 'uncertain']

/** Ended turns that are looked at for one that delivered something. */
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
