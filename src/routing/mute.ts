import type { Address } from '../core/address.ts'
import type { Dispatch, TraceStep } from '../core/dispatch.ts'
import type { RouteFacts } from './route-facts.ts'
import type { SendVerdict } from './send-policy.ts'
import { stop } from './trace.ts'

/**
 * Stores a text in a muted place without owing a turn, and owes none for an edit that would be answered elsewhere;
 * results of other entrances are held at the exit. Returns undefined where nothing is muted, so that the trace gets no
 * step.
 */
export function muteStep(
  facts: Pick<RouteFacts, 'mutedUntil'>,
  { origin, event: { address }, receivedAt }: Dispatch,
): TraceStep | undefined {
  if (origin !== 'platform') return undefined
  const muted = mutedAt(facts, address, receivedAt)
  return muted && stop('mute', muted.because)
}

/** Why nothing may be said at a place now; undefined where it may. Answers to control commands never ask. */
export function mutedAt(facts: Pick<RouteFacts, 'mutedUntil'>, address: Address, now: number): SendVerdict | undefined {
  const until = facts.mutedUntil(address)
  if (until === undefined || until <= now) return undefined
  const because = Number.isFinite(until) ? `muted until ${new Date(until).toISOString()}` : 'muted until /mute off'
  return { allowed: false, because }
}
