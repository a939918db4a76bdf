import type { Address } from '../core/address.ts'
import type { Dispatch, TraceStep } from '../core/dispatch.ts'
import type { RouteFacts } from './route-facts.ts'
import type { SendVerdict } from './send-policy.ts'
import { stop } from './trace.ts'

/**
 * Where an owner asked for silence a text is stored and owes nothing; an edit asks for nothing anyway, and what other
 * entrances bring is held at the exit. Undefined where nothing is muted: then the stage leaves no step in the trace.
 */
export function muteStep(
  facts: Pick<RouteFacts, 'mutedUntil'>,
  { origin, event, receivedAt }: Dispatch,
): TraceStep | undefined {
  if (origin !== 'platform' || event.kind === 'edit') return undefined
  const muted = mutedAt(facts, event.address, receivedAt)
  return muted && stop('mute', muted.because)
}

/** Why nothing may be said at a place now; undefined where it may. Answers to control commands never ask. */
export function mutedAt(facts: Pick<RouteFacts, 'mutedUntil'>, address: Address, now: number): SendVerdict | undefined {
  const until = facts.mutedUntil(address)
  if (until === undefined || until <= now) return undefined
  const because = Number.isFinite(until) ? `muted until ${new Date(until).toISOString()}` : 'muted until /mute off'
  return { allowed: false, because }
}
