import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { BudgetDesk, BudgetReport } from '../../core/operate-budgets.ts'

export interface BudgetCommandDeps {
  /** Absent where no budget is configured. */
  readonly budgets: { readonly desk: BudgetDesk<CommandCall> } | undefined
}

const SHOWN = 20
const OF_STRANGERS = /^stranger:/
const OF_PLACE = /^(person|chat|topic):/

/**
 * `/budget` shows the budgets that apply to whoever asks where it is asked; to the owner in a direct chat also those of
 * everybody else. It answers where it is asked, for whoever has opened no direct chat gets nothing there: where others
 * read along it has their own figures and those of the place alone.
 */
export function budgetCommand({ budgets }: BudgetCommandDeps): ChatCommand {
  return {
    name: 'budget',
    description: 'What I may still spend here, and when that begins anew',
    who: 'anyone',
    run: (call) => budget(call, budgets?.desk),
  }
}

async function budget(call: CommandCall, desk: BudgetDesk<CommandCall> | undefined): Promise<string> {
  const all = (await desk?.here(call)) ?? []
  const shared = call.dispatch.event.address.chatType !== 'direct'
  const owner = call.decision.identity.role === 'owner'
  // Strangers are not shown the spending of others.
  const kinds = call.decision.public ? OF_STRANGERS : OF_PLACE
  const theirs = call.decision.public || shared ? all.filter(({ payer }) => kinds.test(payer)) : all
  const lines = theirs.length === 0 ? ['No budget applies to you here.'] : ['Budgets here:', ...theirs.map(line)]
  if (owner && shared) return [...lines, '', 'All others I show you in our direct chat.'].join('\n')
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
