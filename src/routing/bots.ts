import { type BotBudget, type BotSpending, isExhausted } from '../core/bot-budget.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Decision, TraceStep } from '../core/dispatch.ts'
import { type BotPolicy, botsUnless, type GroupRule } from '../core/policy.ts'
import { grouped } from '../core/spending.ts'
import { type Link, matchesLink, parseLink, type SenderAt } from './identity-links.ts'
import { pass, stop } from './trace.ts'

/** Which other bots a rule admits, and when they are answered; the words of others are context, or ignored. */
export interface BotRule {
  readonly policy: BotPolicy
  readonly links: readonly Link[]
  readonly ignored: TraceStep
  readonly admitted: TraceStep
  readonly left: TraceStep
  /** The reason why a bot that is not listed is not answered. */
  readonly unlisted: TraceStep
  /** The reason why a listed bot is not answered that has not mentioned the agent. */
  readonly unasked: TraceStep
}

/** Without ids no bot is answered. */
export function compileBots(
  { who, bots = botsUnless(who), botIds = [] }: GroupRule,
  path: string,
  channels: Channels,
): BotRule {
  const isContext = bots === 'context'
  const because = isContext ? KNOWN : 'this app or bot is not listed, so what it says is known and not answered'
  return {
    policy: bots,
    links: isContext ? [] : botIds.map((id) => parseLink(channels, id)),
    ignored: stop('sender', 'what apps and other bots say is ignored here', `${path}.bots`),
    admitted: pass('access', `bots: ${bots}`, `${path}.bots`),
    left: pass(
      'access',
      isContext ? 'bots: context' : 'a bot that is not listed: its words are context',
      `${path}.bots`,
    ),
    unlisted: stop('group-rule', because, isContext ? `${path}.bots` : `${path}.botIds`),
    unasked: stop('group-rule', 'this bot is answered only where it mentions the agent', `${path}.bots`),
  }
}

const KNOWN = 'what apps and other bots say is known here and never answered'

/** The step for a bot in a place without a rule, where the owner alone is answered. */
export const NO_RULE = stop('sender', 'what apps and other bots say is ignored here', 'routing.access.groups')

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
