import { approvedCode } from '../../core/approval.ts'
import type { SessionEvent, ToolCallData } from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'

/** Remembers which turns have asked whether a call may be made: others may make it later. */
export class LateCalls {
  /** By the code of the question. */
  readonly #asking = new Map<string, TurnId>()

  note({ turnId, ...event }: SessionEvent): void {
    if (event.type === 'approval_requested' && turnId !== undefined) this.#asking.set(event.data.code, turnId)
  }

  /** Returns the turns that have asked for one of these calls. */
  behind(calls: readonly Pick<ToolCallData, 'callId'>[]): readonly TurnId[] {
    return calls.flatMap(({ callId }) => this.#asking.get(approvedCode(callId) ?? '') ?? [])
  }
}
