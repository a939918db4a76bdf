import type { ChannelAdapter } from '../channels/adapter.ts'
import { type FoundMessage, findsOwnMessages } from '../channels/capabilities.ts'
import { toError } from '../core/errors.ts'
import { deliveryKey } from '../core/ids.ts'
import type { Delivery } from '../core/outbound.ts'
import type { Calls } from './calls.ts'
import type { LaneItem } from './lanes.ts'
import type { Proof } from './reconcile.ts'

/** What the adapter can prove about a lost send, with what it said last; undefined where it can prove nothing. */
export function proofOf(adapter: ChannelAdapter, { looked }: LaneItem): Proof | undefined {
  if (!findsOwnMessages(adapter)) return undefined
  const { sameKeyWindowMs } = adapter
  return looked === undefined ? { sameKeyWindowMs } : { sameKeyWindowMs, looked }
}

/** Never throws: an adapter that breaks cannot tell. */
export async function lookForOwn(calls: Calls, adapter: ChannelAdapter, row: Delivery): Promise<FoundMessage> {
  if (!findsOwnMessages(adapter)) return { kind: 'cannot_tell', reason: 'this channel does not find its messages' }
  if (row.only) return { kind: 'cannot_tell', reason: 'what one person alone was shown is in no history' }
  const { id, address, part: rendered, startedAt = 0 } = row
  try {
    return await adapter.findOwn({ address, key: deliveryKey(id), rendered, startedAt }, calls.signal)
  } catch (thrown) {
    return { kind: 'cannot_tell', reason: toError(thrown).message }
  }
}
