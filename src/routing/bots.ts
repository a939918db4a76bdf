import { type BotBudget, type BotSpending, isExhausted } from '../core/bot-budget.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Decision, TraceStep } from '../core/dispatch.ts'
import type { BotPolicy, GroupRule } from '../core/policy.ts'
import { grouped } from '../core/spending.ts'
import { type Link, matchesLink, parseLink, type SenderAt } from './identity-links.ts'
import { pass, stop } from './trace.ts'

/** Which other bots a rule admits, and when they are answered; the words of others are context. */
export interface BotRule {
  readonly policy: Exclude<BotPolicy, 'ignore'>
  readonly links: readonly Link[]
  readonly admitted: TraceStep
  readonly left: TraceStep
}

/** Undefined where a rule says that nothing of bots is known. Without ids no bot is answered. */
export function compileBots(
  { who, bots = botsUnless(who), botIds = [] }: GroupRule,
  path: string,
  channels: Channels,
): BotRule | undefined {
  if (bots === 'ignore') return undefined
  return {
    policy: bots,
    links: bots === 'context' ? [] : botIds.map((id) => parseLink(channels, id)),
    admitted: pass('access', `bots: ${bots}`, `${path}.bots`),
    left: pass('access', 'a bot that is not listed: its words are context', `${path}.bots`),
  }
}

/** Returns the policy of a rule that says nothing of bots: their words are known where those of every stranger are. */
export function botsUnless(who: GroupRule['who'] | undefined): BotPolicy {
  return who === 'public' ? 'context' : 'ignore'
}

/** By id alone: `<channel>:<id>`, with the team before it where there is one, or the bare id. */
export function admitsBot({ links }: BotRule, bot: SenderAt): boolean {
  return bot.senderId !== undefined && links.some((link) => matchesLink(link, bot))
}

/** Bots are answered within the chat's budget; beyond it what they say is stored and owes no turn. */
export function holdBack(decision: Decision, spent: BotSpending, budget: BotBudget): Decision {
  if (decision.kind !== 'run' || !isExhausted(spent, budget)) return decision
  const because = `bots had ${spent.turns} answers and ${grouped(spent.tokens)} tokens here; wait for a person or for quiet`
  const { route, addressed, identity, trace } = decision
  const step = stop('group-rule', because, 'routing.botBudget')
  return { kind: 'context', reason: 'bot_budget', route, addressed, identity, trace: [...trace, step] }
}
