import { NO_USAGE, tokensRead, type Usage } from './model.ts'
import { instantsOf, wallTimeAt } from './wall-time.ts'

/** The cost of a number of turns. */
export interface Spending {
  readonly turns: number
  readonly usage: Usage
}

export const NOTHING_SPENT: Spending = { turns: 0, usage: NO_USAGE }

/** Returns a count with its thousands apart: `12,040`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Returns `2 turns, 2,040 tokens in (1,800 from the cache, 200 into the cache), 10 out`. */
export function spendingInWords({ turns, usage }: Spending): string {
  const { output, cacheRead, cacheWrite } = usage
  const cached = [
    ...(cacheRead === undefined ? [] : [`${grouped(cacheRead)} from the cache`]),
    ...(cacheWrite === undefined ? [] : [`${grouped(cacheWrite)} into the cache`]),
  ]
  const ofThem = cached.length === 0 ? '' : ` (${cached.join(', ')})`
  const many = `${grouped(turns)} ${turns === 1 ? 'turn' : 'turns'}`
  return `${many}, ${grouped(tokensRead(usage))} tokens in${ofThem}, ${grouped(output)} out`
}

/** Returns the beginning of the day in the zone of the budgets; without one in the daemon's, which the log uses too. */
export function dayBegan(now: number, timezone: string | undefined): number {
  if (timezone === undefined) return new Date(now).setHours(0, 0, 0, 0)
  return instantsOf(timezone, new Date(wallTimeAt(timezone, now)).setUTCHours(0, 0, 0, 0))[0]
}
