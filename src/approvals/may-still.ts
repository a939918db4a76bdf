import type { Approval, ToolRule } from '../core/approval.ts'
import { OPERATOR } from '../core/platform-id.ts'
import { approversOf, type Speaking } from './tool-policy.ts'

interface MayStillDeps {
  readonly rules: readonly ToolRule[]
  /** Returns true if somebody who gave an answer, by name or id, is an owner now. */
  isOwnerNow(this: void, by: string): Promise<boolean>
}

interface Behind {
  /** Everybody whose words the turn was shown. */
  readonly speaking: readonly Speaking[]
  readonly place: readonly string[]
}

/** Returns true if whoever allowed a call may still allow it: roles may have changed while it waited for its turn. */
export async function mayStill(
  { rules, isOwnerNow }: MayStillDeps,
  { tool, decidedBy = '' }: Pick<Approval, 'tool' | 'decidedBy'>,
  { speaking, place }: Behind,
): Promise<boolean> {
  if (decidedBy === OPERATOR || (await isOwnerNow(decidedBy))) return true
  return approversOf(rules, { tool, speaking, place }).some((person) => person === decidedBy)
}
