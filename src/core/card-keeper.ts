import { OPEN_MS } from './approval.ts'
import type { CloseCards } from './card.ts'
import type { Clock } from './clock.ts'
import type { TurnId } from './ids.ts'

/** Closes the cards of questions that are over, so that no button asks for what nobody can answer any more. */
export interface CardKeeper {
  /** Called once a question is asked: it is over at the latest when its time is. */
  watch(asked: WatchedCard): void
  /** Closes the cards of a question if it is over. Never rejects. */
  closeIfOver(code: string): Promise<void>
  /** Returns true if a turn of this process has asked something. */
  asked(turn: TurnId): boolean
  /** Called once the end of such a turn is on record. Never rejects. */
  ended(turn: TurnId): Promise<void>
  /** Closes or watches whatever an earlier process has left; called at the start. */
  recover(): Promise<void>
}

export interface WatchedCard {
  readonly code: string
  readonly turnId: TurnId
  /** Ms since the epoch; nobody can answer after it. */
  readonly openUntil: number
}

export interface CardKeeperPorts {
  readonly clock: Clock
  readonly closeCards: CloseCards
  /** The beginning of the names under which messages about such questions are listed. */
  readonly prefix: string
  /** Returns everything that has such a message. */
  subjects(): Promise<readonly string[]>
  /** Returns a question that is open, or the line that closes it; undefined for one that is gone. */
  look(code: string): Promise<{ readonly open: WatchedCard } | { readonly line: string } | undefined>
}

const GONE = 'This question was deleted.'

export function createCardKeeper({ clock, closeCards, prefix, subjects, look }: CardKeeperPorts): CardKeeper {
  const timers = new Map<string, () => void>()
  const turns = new Map<TurnId, readonly string[]>()

  function watch({ code, openUntil, turnId }: WatchedCard): void {
    turns.set(turnId, [...(turns.get(turnId) ?? []), code])
    timers.get(code)?.()
    // A moment later it is too old.
    const ms = Math.min(OPEN_MS, Math.max(0, openUntil - clock.now())) + 1
    timers.set(
      code,
      clock.after(ms, () => void closeIfOver(code)),
    )
  }

  async function closeIfOver(code: string): Promise<void> {
    // A timer may end after the store was closed.
    const found = await look(code).catch(() => undefined)
    if (found === undefined || 'open' in found) return
    timers.get(code)?.()
    timers.delete(code)
    await closeCards(`${prefix}${code}`, found.line)
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
      for (const subject of await subjects()) {
        if (!subject.startsWith(prefix)) continue
        const code = subject.slice(prefix.length)
        const found = await look(code)
        if (found === undefined) await closeCards(subject, GONE)
        else if ('open' in found) watch(found.open)
        else await closeIfOver(code)
      }
    },
  }
}
