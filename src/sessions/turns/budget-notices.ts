import { conversationOf } from '../../core/address.ts'
import { budgetKey } from '../../core/budget.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { StartedTurn } from './started-turn.ts'
import { hitOf } from './turn-reply.ts'

/**
 * Returns false for the line about a budget that was said in this place before, within the budget's period. Called in
 * the commit that ends the turn, so that it is said once whatever happens to the process. Below a part of an answer
 * that broke off it is said again.
 */
export async function isNews(
  tx: Pick<StoreWriter, 'notices'>,
  { reply }: Pick<StartedTurn, 'reply'>,
  result: TurnResult,
): Promise<boolean> {
  if (result.kind !== 'failed' || result.shown !== undefined) return true
  const hit = hitOf(result.cause)
  // Nobody would know why a conversation is silent for good.
  if (hit === undefined || hit.period === 'session') return true
  // The mark has the time of the end, so that it is kept until then.
  return tx.notices.once(`budget:${budgetKey(hit)}:${conversationOf(reply.address)}`, hit.resetsAt, 1)
}
