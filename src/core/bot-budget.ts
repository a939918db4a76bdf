/**
 * Limits what other bots, any number of them together, can make the agent do in one chat. A person whom the agent
 * answers there begins a new budget, and so does a quiet time (F-D11).
 */
export interface BotBudget {
  /** Messages of bots that are answered. */
  readonly turns: number
  /** Tokens those turns may take, input and output; the turn that goes beyond is the last. */
  readonly tokens: number
  /** Minutes without a bot that asks. */
  readonly quietMinutes: number
}

/** The part of the budget that bots have used up in one chat. */
export interface BotSpending {
  readonly turns: number
  readonly tokens: number
  /** When a bot last asked, answered or not; ms since the epoch. */
  readonly lastAskedAt: number
}

export const NO_BOT_SPENDING: BotSpending = { turns: 0, tokens: 0, lastAskedAt: 0 }

/**
 * Returns the spending that still counts at `at`. After a clock was set back, a time that lies ahead does not count.
 */
export function spentBy(spending: BotSpending, at: number, { quietMinutes }: BotBudget): BotSpending {
  return Math.abs(at - spending.lastAskedAt) >= quietMinutes * 60_000 ? NO_BOT_SPENDING : spending
}

export function isExhausted({ turns, tokens }: BotSpending, budget: BotBudget): boolean {
  return turns >= budget.turns || tokens >= budget.tokens
}
