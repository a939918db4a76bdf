import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { InboxId } from '../../core/ids.ts'

/** Remembers messages that repeat what is meant, such as a digest: what answers them is made of it. */
export class RepeatingRows {
  readonly #rows = new Set<InboxId>()
  /** One of them was said since the last turn took messages. */
  #waits = false

  note({ row, triggers }: Pick<UserMessageData, 'row' | 'triggers'>): void {
    if (row !== undefined) this.#rows.add(row)
    if (triggers) this.#waits = true
  }

  /** Returns whether a turn takes one of them with an event. Without names it takes what was said since the last one. */
  areTaken({ type, data }: SessionEvent): boolean {
    if (type !== 'turn_started' && type !== 'turn_steered') return false
    const taken = data.rows === undefined ? this.#waits : data.rows.some((row) => this.#rows.has(row))
    this.#waits = false
    return taken
  }
}
