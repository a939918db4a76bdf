import type { Ledger, LedgerEntry, WaitOptions } from '../ledger.ts'
import type { MatchShown, Shown } from './platform-stage.ts'

/** The bot's messages in any platform's ledger; `read` returns undefined for every other entry. */
export class LedgerView<E extends LedgerEntry> {
  readonly #ledger: Ledger<E>
  readonly #read: (entry: E) => Shown | undefined

  constructor(ledger: Ledger<E>, read: (entry: E) => Shown | undefined) {
    this.#ledger = ledger
    this.#read = read
  }

  async next(match: MatchShown, options: WaitOptions): Promise<{ readonly shown: Shown; readonly end: number }> {
    const matches = (entry: E): boolean => {
      const shown = this.#read(entry)
      return shown !== undefined && match(shown)
    }
    const entry = await this.#ledger.next(matches, options)
    const shown = this.#read(entry)
    if (!shown) throw new Error('An entry of the ledger changed.')
    return { shown, end: this.#ledger.entries.indexOf(entry, options.after) + 1 }
  }

  shown(after = 0): readonly Shown[] {
    return this.#ledger.entries.slice(after).flatMap((entry) => this.#read(entry) ?? [])
  }
}
