import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { BudgetDesk, BudgetReport } from '../../core/operate-budgets.ts'
import { type UsageCommandDeps, usage } from './usage.ts'

export interface BudgetCommandDeps extends Omit<UsageCommandDeps, 'budgets'> {
  /** Absent where no budget is configured. */
  readonly budgets: { readonly desk: BudgetDesk<CommandCall> } | undefined
}

const SHOWN = 20

/**
 * `/budget` shows the budgets that apply to whoever asks where it is asked, and to them alone; to the owner in a direct
 * chat also those of everybody else. Where none applies, it says what was spent all the same.
 */
export function budgetCommand(deps: BudgetCommandDeps): ChatCommand {
  return {
    name: 'budget',
    description: 'What I may still spend here, and when that begins anew',
    who: 'anyone',
    private: true,
    run: (call) => budget(call, deps),
  }
}

async function budget(call: CommandCall, deps: BudgetCommandDeps): Promise<string> {
  const desk = deps.budgets?.desk
  const all = (await desk?.here(call)) ?? []
  // Strangers are not shown the spending of others.
  const theirs = call.decision.public ? all.filter(({ payer }) => payer.startsWith('stranger:')) : all
  const owner = call.decision.identity.role === 'owner'
  const inGroup = owner && call.dispatch.event.address.chatType !== 'direct'
  const none = async () => ['No budget applies to you here.', await usage(call, deps)]
  const lines = theirs.length === 0 ? await none() : ['Budgets here:', ...theirs.map(line)]
  if (inGroup) return [...lines, '', 'All others I show you in our direct chat.'].join('\n')
  if (!owner) return lines.join('\n')
  const shown = new Set(theirs.map(keyOf))
  const others = ((await desk?.all(SHOWN)) ?? []).filter((one) => !shown.has(keyOf(one)))
  return [...lines, ...(others.length === 0 ? [] : ['', 'Others:', ...others.map(line)])].join('\n')
}

function keyOf({ payer, period }: BudgetReport): string {
  return `${payer} ${period}`
}

function line({ words }: BudgetReport): string {
  return `- ${words}`
}
