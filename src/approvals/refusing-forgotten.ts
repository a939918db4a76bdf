import { approvedCode } from '../core/approval.ts'
import type { CallGate } from '../core/call-gate.ts'
import { BEING_FORGOTTEN } from '../core/forgetting.ts'
import type { TurnId } from '../core/ids.ts'
import type { StoreReader } from '../store/store.ts'

/**
 * Returns the gate of a turn that hands no word on once what it was shown is being forgotten: by no call that keeps
 * words, by no question about a call, whose card stands in other chats, and by none that was allowed before.
 */
export function refusingForgotten(
  read: Pick<StoreReader, 'forgetting' | 'approvals'>,
  turn: TurnId,
  gate: CallGate,
): CallGate {
  const isForgetting = (code: string | undefined): Promise<boolean> => isBeingForgotten(read, turn, code)
  return {
    async judge(call) {
      const isRefused = await isForgetting(approvedCode(call.callId))
      if (isRefused && call.keepsWords) return REFUSED
      const verdict = await gate.judge(call)
      return isRefused && verdict.kind === 'ask' && !verdict.asked ? REFUSED : verdict
    },
    async outcome(code, signal) {
      const outcome = await gate.outcome(code, signal)
      // A question that is open still leads to nothing either.
      if (outcome.kind === 'denied' || !(await isForgetting(code))) return outcome
      return { kind: 'refused', reason: BEING_FORGOTTEN }
    },
  }
}

/**
 * Returns whether something that a turn was shown is being forgotten. The arguments of a call that is allowed late are
 * those of the turn that asked.
 */
export async function isBeingForgotten(
  { forgetting, approvals }: Pick<StoreReader, 'forgetting' | 'approvals'>,
  turn: TurnId,
  code: string | undefined,
): Promise<boolean> {
  if (await forgetting.isForgetting(turn)) return true
  const asking = code === undefined ? undefined : await approvals.get(code)
  return asking !== undefined && asking.turnId !== turn && forgetting.isForgetting(asking.turnId)
}

const REFUSED = { kind: 'deny', reason: BEING_FORGOTTEN } as const
