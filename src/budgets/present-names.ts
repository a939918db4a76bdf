import { formatAddress, parseAddress } from '../core/address.ts'
import type { PayerBudget } from '../core/budget.ts'
import type { StoreReader } from '../store/store.ts'

/**
 * Returns the budgets with each chat under the id that it has now: a chat that moves during a turn keeps the limit that
 * the turn began with, and what it has spent. Read in the transaction that holds a cost, so that no move comes between.
 */
export async function underPresentNames(
  moves: Pick<StoreReader['chatMoves'], 'movedTo'>,
  budgets: readonly PayerBudget[],
): Promise<readonly PayerBudget[]> {
  const present: PayerBudget[] = []
  for (const budget of budgets) {
    const { kind, id } = budget.payer
    const address = kind === 'chat' || kind === 'topic' ? parseAddress(id) : undefined
    const chat = address?.chatType === 'group' ? await moves.movedTo(address.channel, address.chat) : undefined
    if (address === undefined || chat === undefined) present.push(budget)
    else present.push({ ...budget, payer: { kind, id: formatAddress({ ...address, chat }) } })
  }
  return present
}
