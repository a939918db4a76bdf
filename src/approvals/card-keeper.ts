import { OPEN_MS } from '../core/approval.ts'
import type { CloseCards } from '../core/card.ts'
import { type CardKeeper, createCardKeeper } from '../core/card-keeper.ts'
import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/store.ts'
import { closingLine } from './approval-card.ts'
import { overBy } from './still-open.ts'

export interface CardKeeperDeps {
  readonly store: Store
  readonly clock: Clock
  readonly closeCards: CloseCards
}

const SUBJECT = 'approval:'

/** Returns the name under which the messages about a question are listed. */
export function subjectOf(code: string): string {
  return `${SUBJECT}${code}`
}

/** Returns what closes the cards of approvals. */
export function approvalCards({ store, clock, closeCards }: CardKeeperDeps): CardKeeper {
  return createCardKeeper({
    ...{ clock, closeCards, prefix: SUBJECT },
    subjects: () => store.read.cards.subjects(),
    async look(code) {
      const approval = await store.read.approvals.get(code)
      if (approval === undefined) return undefined
      const over = await overBy(store, approval, clock.now())
      if (over === undefined) return { open: { code, turnId: approval.turnId, openUntil: approval.askedAt + OPEN_MS } }
      const standing = (await store.read.standingRules.all().catch(() => [])).some((rule) => rule.code === code)
      return { line: closingLine(approval, { over, standing }) }
    },
  })
}
