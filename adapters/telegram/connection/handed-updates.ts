import { isFields } from '../../shared/fields.ts'

type Outcome =
  | { readonly kind: 'waits' }
  | { readonly kind: 'stored' }
  | { readonly kind: 'failed'; readonly reason: unknown }

/** The progress of the updates of a batch. */
interface Progress {
  /** So many from its beginning on are stored. */
  readonly stored: number
  /** Some are still being stored. */
  readonly waits: boolean
  /** Why one of them was not stored. */
  readonly failed?: { readonly reason: unknown }
}

/** The updates that were handed over and are not confirmed: the platform gives them again with each poll. */
export class HandedUpdates {
  readonly #accept: (update: unknown) => Promise<void>
  readonly #outcomes = new Map<string, Outcome>()
  readonly #waiting = new Set<Promise<void>>()

  constructor(accept: (update: unknown) => Promise<void>) {
    this.#accept = accept
  }

  get waits(): boolean {
    return this.#waiting.size > 0
  }

  /** Hands over those of a batch that are not under way yet, all at once so that they are one commit. */
  handOver(batch: readonly unknown[]): void {
    for (const update of batch) {
      const name = nameOf(update)
      if (!this.#outcomes.has(name)) this.#begin(name, update)
    }
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  /** Returns the progress of a batch. Updates that were not stored, or are to be confirmed, are forgotten here. */
  progress(batch: readonly unknown[]): Progress {
    const names = batch.map(nameOf)
    const outcomes = names.map((name) => this.#outcomes.get(name))
    const first = outcomes.findIndex((outcome) => outcome?.kind !== 'stored')
    const stored = first < 0 ? batch.length : first
    const failed = outcomes.find((outcome) => outcome?.kind === 'failed')
    const left = new Set(names.slice(stored))
    for (const [name, { kind }] of this.#outcomes)
      if (kind === 'failed' || (kind === 'stored' && !left.has(name))) this.#outcomes.delete(name)
    return { stored, waits: this.waits, ...(failed?.kind === 'failed' ? { failed: { reason: failed.reason } } : {}) }
  }

  #begin(name: string, update: unknown): void {
    this.#outcomes.set(name, { kind: 'waits' })
    const ended = (outcome: Outcome): void => {
      this.#outcomes.set(name, outcome)
      this.#waiting.delete(work)
    }
    const work = this.#accepted(update).then(
      () => ended({ kind: 'stored' }),
      (reason: unknown) => ended({ kind: 'failed', reason }),
    )
    this.#waiting.add(work)
  }

  /** An update that throws does not hold up the others of its batch. */
  #accepted(update: unknown): Promise<void> {
    try {
      return this.#accept(update)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

/** Two updates may have the same id only where it is none. */
function nameOf(update: unknown): string {
  const id = isFields(update) ? update.update_id : undefined
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : JSON.stringify(update)
}
