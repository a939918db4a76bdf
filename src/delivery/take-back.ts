import { type Address, formatAddress } from '../core/address.ts'
import { failpoint } from '../core/failpoint.ts'
import type { TurnId } from '../core/ids.ts'
import type { Delivery } from '../core/outbound.ts'
import type { StoreWriter } from '../store/store.ts'
import type { Activity } from './activity.ts'
import { entryOf } from './conversation.ts'
import type { RowDeps } from './new-row.ts'
import type { PlannedReply } from './plan-rows.ts'

export interface TakeBackDeps extends Pick<RowDeps, 'clock' | 'settings'> {
  readonly activity: Pick<Activity, 'step'>
  /** Hands planned parts to their conversation. */
  release(planned: PlannedReply): void
}

/** The reason of a part that was not sent yet when its turn was taken back. */
export const TAKEN_BACK = 'it was taken back'

/**
 * Takes back what a turn has said: what is shown is deleted, which the next start continues after a crash, and what
 * was not sent yet ends with that outcome. Returns false while the outcome of a call is not known: a message could
 * appear afterwards.
 */
export async function takeBack(
  { clock, settings, activity, release }: TakeBackDeps,
  tx: StoreWriter,
  turn: TurnId,
): Promise<boolean> {
  const place = (await tx.turns.get(turn))?.reply.address
  const rows = (await tx.outbox.ofTurn(turn)).filter((row) => !isAskedElsewhere(row, place))
  if (rows.some(({ state }) => state === 'sending' || state === 'uncertain')) return false
  const at = clock.now()
  const deletions: PlannedReply[] = []
  for (const row of rows) {
    const { id, op, part, lowPriority, address } = row
    if (op === 'delete') continue
    if (isInChat(row)) {
      const expiresAt = at + settings.expireAfterMs[row.class]
      await tx.outbox.replace(id, { op: 'delete', part, state: 'planned', lowPriority, at, expiresAt })
      deletions.push({ outcome: 'planned', address, entries: [entryOf(row)] })
    } else if (row.state === 'planned' || row.state === 'waiting') {
      await tx.outbox.settle(id, { state: 'expired', reason: TAKEN_BACK, at })
    }
  }
  tx.afterCommit(() => {
    failpoint('CP20-exchange-taken-back')
    for (const one of deletions) release(one)
    activity.step()
  })
  return true
}

/** Whoever was asked in private whether a call may be made keeps what they have agreed to; it is closed there. */
function isAskedElsewhere({ class: kind, address }: Delivery, place: Address | undefined): boolean {
  return kind === 'control' && place !== undefined && formatAddress(address) !== formatAddress(place)
}

/** A message whose last edit waits, or was given up, is there as well. */
function isInChat({ op, state, messageId }: Delivery): boolean {
  return messageId !== undefined && (op === 'edit' || state === 'sent' || state === 'resent')
}
