import type { SessionEvent } from '../../core/event.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'

/**
 * Remembers of each turn of a log how much of the log it was shown: what came before it began, or before somebody
 * joined it, and all there was when it has read its own conversation; and which conversations it has read by its tools.
 */
export class ShownTurns {
  readonly #own: SessionId
  readonly #upTo = new Map<TurnId, number>()
  readonly #hasRead = new Map<TurnId, Set<SessionId>>()

  constructor(own: SessionId) {
    this.#own = own
  }

  note({ type, seq, turnId, data }: SessionEvent): void {
    if (turnId === undefined) return
    if (type === 'turn_started' || type === 'turn_steered') this.#upTo.set(turnId, seq)
    if (type !== 'tool_result') return
    const read = this.#hasRead.get(turnId) ?? new Set()
    this.#hasRead.set(turnId, read)
    for (const session of data.shows ?? []) read.add(session)
    if (data.shows?.includes(this.#own)) this.#upTo.set(turnId, seq)
  }

  /** Returns whether a turn was shown one of these events: all of them where it is not known when it began. */
  wasShown(turn: TurnId, events: Iterable<number>): boolean {
    const upTo = this.#upTo.get(turn) ?? Number.MAX_SAFE_INTEGER
    for (const seq of events) if (seq <= upTo) return true
    return false
  }

  /** Returns whether a turn has read one of these sessions by its tools. */
  hasRead(turn: TurnId, sessions: ReadonlySet<SessionId>): boolean {
    return [...(this.#hasRead.get(turn) ?? [])].some((session) => sessions.has(session))
  }
}
