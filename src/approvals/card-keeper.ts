import { type Approval, OPEN_MS } from '../core/approval.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import type { TurnId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import { closingLine } from './approval-card.ts'
import { overBy } from './still-open.ts'

export interface CardKeeperDeps {
  readonly store: Store
  readonly clock: Clock
  readonly closeCards: CloseCards
}

/** Closes the cards of questions that are over, so that no button asks for what nobody can answer any more. */
export interface CardKeeper {
  /** Called once a question is asked: it is over at the latest when its time is. */
  watch(approval: Watched): void
  /** Closes the cards of a question if it is over. Never rejects. */
  closeIfOver(code: string): Promise<void>
  /** Returns true if a turn of this process has asked something. */
  asked(turn: TurnId): boolean
  /** Called once the end of such a turn is on record. Never rejects. */
  ended(turn: TurnId): Promise<void>
  /** Closes or watches whatever an earlier process has left; called at the start. */
  recover(): Promise<void>
}

type Watched = Pick<Approval, 'code' | 'askedAt' | 'turnId'>

const SUBJECT = 'approval:'

/** Returns the name under which the messages about a question are listed. */
export function subjectOf(code: string): string {
  return `${SUBJECT}${code}`
}

export function createCardKeeper({ store, clock, closeCards }: CardKeeperDeps): CardKeeper {
  const timers = new Map<string, () => void>()
  const turns = new Map<TurnId, readonly string[]>()

  function watch({ code, askedAt, turnId }: Watched): void {
    turns.set(turnId, [...(turns.get(turnId) ?? []), code])
    timers.get(code)?.()
    // A moment later it is too old.
    const ms = Math.min(OPEN_MS, Math.max(0, askedAt + OPEN_MS - clock.now())) + 1
    timers.set(
      code,
      clock.after(ms, () => void closeIfOver(code)),
    )
  }

  async function closeIfOver(code: string): Promise<void> {
    const approval = await store.read.approvals.get(code).catch(() => undefined)
    // A timer may end after the store was closed.
    if (approval === undefined) return
    const over = await overBy(store, approval, clock.now()).catch(() => undefined)
    if (over === undefined) return
    timers.get(code)?.()
    timers.delete(code)
    const standing = (await store.read.standingRules.all().catch(() => [])).some((rule) => rule.code === code)
    await closeCards(subjectOf(code), closingLine(approval, { over, standing }))
  }

  return {
    watch,
    closeIfOver,
    asked: (turn) => turns.has(turn),
    async ended(turn) {
      const codes = turns.get(turn) ?? []
      turns.delete(turn)
      for (const code of codes) await closeIfOver(code)
    },
    async recover() {
      for (const subject of await store.read.cards.subjects()) {
        if (!subject.startsWith(SUBJECT)) continue
        const code = subject.slice(SUBJECT.length)
        const approval = await store.read.approvals.get(code)
        if (approval === undefined) await closeCards(subject, GONE)
        else if ((await overBy(store, approval, clock.now())) === undefined) watch(approval)
        else await closeIfOver(code)
      }
    },
  }
}

const GONE = 'This question was deleted.'
