import type { Clock } from '../../core/clock.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { type Spending, tokensRead } from '../../core/model.ts'
import type { Store } from '../../store/store.ts'

export interface UsageCommandDeps {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
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

async function usage({ decision }: CommandCall, { store: { read }, clock }: UsageCommandDeps): Promise<string> {
  const current = await read.sessions.current(decision.route.scopeKey)
  const here = current ? `Here: ${inWords(await read.events.spent(current.id))}` : 'Here: nothing yet'
  if (decision.identity.role !== 'owner') return here
  const today = await read.turns.spentSince(midnightBefore(clock.now()))
  return `${here}\nToday, everywhere: ${inWords(today)}`
}

function inWords({ turns, usage }: Spending): string {
  const { output, cacheRead, cacheWrite } = usage
  const cached = [
    ...(cacheRead === undefined ? [] : [`${cacheRead} from the cache`]),
    ...(cacheWrite === undefined ? [] : [`${cacheWrite} into the cache`]),
  ]
  const ofThem = cached.length === 0 ? '' : ` (${cached.join(', ')})`
  return `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${tokensRead(usage)} tokens in${ofThem}, ${output} out`
}

/** Returns midnight in the daemon's time zone, which the log uses too. */
function midnightBefore(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0)
}
