import type { Approvals } from '../approvals/approval-service.ts'
import { subjectOf } from '../approvals/card-keeper.ts'
import type { Clock } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { JournalDraft } from '../core/turn.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import { recordStep } from '../sessions/turns/record-turn.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import type { Store } from '../store/store.ts'

export interface AskPersonDeps {
  readonly store: Store
  readonly clock: Clock
  readonly delivery: DeliveryService
  readonly approvals: Pick<Approvals, 'gate' | 'question' | 'settled' | 'callsOf'>
}

type Question = Extract<JournalDraft, { type: 'approval_requested' }>

/** Commits a question with the messages that ask it, and hands them over: a crash leaves all of it or nothing. */
export async function askPerson(deps: AskPersonDeps, turn: StartedTurn, event: Question): Promise<undefined> {
  const { store, clock, delivery, approvals } = deps
  const since = await store.read.forgetting.removals()
  const { approval, messages } = await approvals.question(turn, event.data)
  const planned = await store.write(async (tx) => {
    // Whoever read its card would have words that are being forgotten: the gate answers the call.
    if (await tx.forgetting.isForgetting(turn.id)) return []
    await tx.approvals.add(approval)
    await recordStep(tx, turn, clock.now(), event)
    const isStale = await tx.forgetting.hasRemovedSince(since, [turn.session.id])
    const rows = []
    for (const written of messages) {
      const { quoting, ...rest } = written
      const message = isStale && quoting ? { ...rest, text: quoting.text } : written
      if (message.buttons) await tx.cards.add(subjectOf(approval.code), message.source)
      rows.push(await delivery.plan(tx, message))
    }
    return rows
  })
  failpoint('CP17-approval-asked')
  for (const rows of planned) delivery.release(rows)
  return undefined
}
