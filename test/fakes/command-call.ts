import type { CommandCall } from '../../src/core/command.ts'
import type { InboxId } from '../../src/core/ids.ts'
import type { InboundCommand } from '../../src/core/message.ts'
import { decide, verdict } from './decide.ts'
import { command, dispatchOf } from './dispatch.ts'
import { household } from './routing-policy.ts'

/** A control command, Ada's in a group unless it is said otherwise, decided as the daemon would. */
export function commandCall(name: string, args: string, changes: Partial<InboundCommand> = {}): CommandCall {
  const dispatch = dispatchOf(command(name, { ...changes, args }))
  const decision = decide(household(), dispatch.event, { facts: { command: () => ({ who: 'anyone', open: false }) } })
  if (decision.kind !== 'control') throw new Error(verdict(decision))
  return { inboxId: 'in_test' as InboxId, dispatch, decision, args }
}
