import type { MissedPolicy } from '../core/schedule.ts'

/** A slot that is later than this counts as missed: time enough for a restart, a stalled process, a slow tick. */
export const ON_TIME_MS = 60_000

/** The slots to run and the slots to skip, each in order. */
export interface SlotDecision {
  readonly run: readonly number[]
  readonly missed: readonly number[]
}

/**
 * Returns which late slots run, by the schedule's policy, such as after a sleep of the machine or a stop of the daemon.
 * A slot on time always runs, and under `once` covers everything missed before it. Pure.
 */
export function decideSlots(due: readonly number[], now: number, policy: MissedPolicy): SlotDecision {
  const late = due.filter((slot) => now - slot > ON_TIME_MS)
  const onTime = due.filter((slot) => now - slot <= ON_TIME_MS)
  const caughtUp = late.slice(late.length - catchUp(policy, { late: late.length, onTime: onTime.length }))
  return { run: [...caughtUp, ...onTime], missed: late.slice(0, late.length - caughtUp.length) }
}

function catchUp(policy: MissedPolicy, count: { readonly late: number; readonly onTime: number }): number {
  switch (policy.kind) {
    case 'skip':
      return 0
    case 'once':
      return count.onTime > 0 ? 0 : Math.min(count.late, 1)
    case 'all':
      return Math.min(count.late, policy.most)
  }
}
