import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { BudgetDesk } from '../../core/operate-budgets.ts'
import { dayBegan, spendingInWords } from '../../core/spending.ts'
import type { Store } from '../../store/store.ts'

export interface UsageCommandDeps {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  /** Undefined where no budget is configured. */
  readonly budgets: { readonly desk: Pick<BudgetDesk<CommandCall>, 'timezone'> } | undefined
}

/**
 * `/usage` reports the cost of this conversation since its last `/new`; for the owner also the day's cost of everybody.
 */
export function usageCommand(deps: UsageCommandDeps): ChatCommand {
  return {
    name: 'usage',
    description: 'Turns and tokens of this conversation',
    who: 'anyone',
    run: (call) => usage(call, deps),
  }
}

/** Returns the cost of the conversation that a command came from; for an owner also of everything today. */
export async function usage(
  { decision }: CommandCall,
  { store: { read }, clock, budgets }: UsageCommandDeps,
): Promise<string> {
  const current = await read.sessions.current(decision.route.scopeKey)
  const here = current ? `Here: ${spendingInWords(await read.events.spent(current.id))}` : 'Here: nothing yet'
  if (decision.identity.role !== 'owner') return here
  const today = await read.turns.spentSince(dayBegan(clock.now(), budgets?.desk.timezone))
  return `${here}\nToday, everywhere: ${spendingInWords(today)}`
}
