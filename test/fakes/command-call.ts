import type { Address } from '../../src/core/address.ts'
import type { CommandCall } from '../../src/core/command.ts'
import type { InboxId } from '../../src/core/ids.ts'
import { decide, verdict } from './decide.ts'
import { command, dispatchOf, group } from './dispatch.ts'
import { household } from './routing-policy.ts'

/** A control command of Ada's, decided as the daemon would. */
export function commandCall(name: string, args: string, address: Address = group()): CommandCall {
  const dispatch = dispatchOf(command(name, { address, args }))
  const decision = decide(household(), dispatch.event, { facts: { command: () => ({ who: 'anyone', open: false }) } })
  if (decision.kind !== 'control') throw new Error(verdict(decision))
  return { inboxId: 'in_test' as InboxId, dispatch, decision, args }
}
