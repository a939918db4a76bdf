/**
 * An entry in the ground truth of a rehearsal server: an append-only list of its events in order. Tests and the demo
 * read it or wait on it; nothing in it is ever changed or removed.
 */
export interface LedgerEntry {
  readonly kind: string
  /** Milliseconds since the epoch, by the server's clock. */
  readonly at: number
}

export interface WaitOptions {
  /**
   * The time after which a wait rejects with a list of what was seen. Default: slightly less than the limit of a test.
   */
  timeoutMs?: number
  /** The position from which entries count (see `mark`). Default 0: already recorded entries count. */
  after?: number
}

interface Waiter<E> {
  check(entry: E): void
  fail(error: Error): void
}

const shownOnTimeout = 25
/** A wait ends with its entry: the limit only turns one that will never end into a message with the reason. */
const GIVE_UP_MS = 50_000

export class Ledger<E extends LedgerEntry> {
  readonly entries: E[] = []
  readonly #describe: (entry: E) => string
  readonly #waiters = new Set<Waiter<E>>()

  constructor(describe: (entry: E) => string = (entry) => entry.kind) {
    this.#describe = describe
  }

  append(entry: E): void {
    this.entries.push(entry)
    if (this.#waiters.size === 0) return
    for (const waiter of this.#waiters) waiter.check(entry)
  }

  /** Returns the position after the last entry: pass it as `after` to see only later ones. */
  mark(): number {
    return this.entries.length
  }

  all<T extends E>(match: (entry: E) => entry is T, after?: number): T[]
  all(match: (entry: E) => boolean, after?: number): E[]
  all(match: (entry: E) => boolean, after = 0): E[] {
    return this.entries.slice(after).filter(match)
  }

  count(match: (entry: E) => boolean, after = 0): number {
    let count = 0
    for (let i = after; i < this.entries.length; i++) {
      const entry = this.entries[i]
      if (entry !== undefined && match(entry)) count++
    }
    return count
  }

  /** Resolves with the first matching entry, recorded already or later. */
  next<T extends E>(match: (entry: E) => entry is T, options?: WaitOptions): Promise<T>
  next(match: (entry: E) => boolean, options?: WaitOptions): Promise<E>
  async next(match: (entry: E) => boolean, options?: WaitOptions): Promise<E> {
    const [entry] = await this.collect(1, match, options)
    if (entry === undefined) throw new Error('The ledger collected nothing.')
    return entry
  }

  /** Resolves with the first `wanted` matching entries, as soon as there are that many. */
  collect<T extends E>(wanted: number, match: (entry: E) => entry is T, options?: WaitOptions): Promise<T[]>
  collect(wanted: number, match: (entry: E) => boolean, options?: WaitOptions): Promise<E[]>
  collect(wanted: number, match: (entry: E) => boolean, options: WaitOptions = {}): Promise<E[]> {
    const found = this.all(match, options.after).slice(0, wanted)
    if (found.length >= wanted) return Promise.resolve(found)
    return this.#wait({ wanted, match, found, timeoutMs: options.timeoutMs ?? GIVE_UP_MS })
  }

  /** Rejects every waiter; called when the server closes. */
  close(): void {
    for (const waiter of this.#waiters)
      waiter.fail(new Error('The rehearsal server closed while the ledger was awaited.'))
  }

  #wait(wait: { wanted: number; match: (entry: E) => boolean; found: E[]; timeoutMs: number }): Promise<E[]> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        settle()
      }
      const waiter: Waiter<E> = {
        check: (entry) => {
          if (!wait.match(entry)) return
          wait.found.push(entry)
          if (wait.found.length >= wait.wanted) finish(() => resolve(wait.found))
        },
        fail: (error) => finish(() => reject(error)),
      }
      const timer = setTimeout(() => waiter.fail(this.#timeoutError(wait)), wait.timeoutMs)
      this.#waiters.add(waiter)
    })
  }

  #timeoutError(wait: { wanted: number; found: E[]; timeoutMs: number }): Error {
    const shown = this.entries.slice(-shownOnTimeout).map((entry) => `  ${this.#describe(entry)}`)
    const hidden = this.entries.length - shown.length
    const head = `Waited ${wait.timeoutMs} ms: ${wait.found.length} of ${wait.wanted} matching ledger entries came.`
    const earlier = hidden > 0 ? [`  … ${hidden} earlier entries`] : []
    return new Error([head, 'Seen:', ...earlier, ...(shown.length > 0 ? shown : ['  nothing'])].join('\n'))
  }
}
