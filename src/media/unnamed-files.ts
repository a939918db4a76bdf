import type { Clock } from '../core/clock.ts'
import type { MediaId } from '../core/ids.ts'

/** Far more than lies between keeping a file and the commit of its event: for a message that is seconds. */
const KEPT_MS = 600_000

/**
 * The files that were kept and that no event names yet. To the store they look like files that nobody wants any more,
 * so a sweep asks here too. A file that is kept twice waits for two events. After ten minutes no event will come.
 */
export class UnnamedFiles {
  readonly #clock: Pick<Clock, 'elapsed'>
  /** When each was kept, the earliest first. */
  readonly #kept = new Map<MediaId, readonly number[]>()

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  kept(id: MediaId): void {
    this.#put(id, [...this.#young(id), this.#clock.elapsed()])
  }

  /** Called after the commit of events, with each file as often as they name it. */
  readonly named = (ids: readonly MediaId[]): void => {
    for (const id of ids) this.#put(id, this.#young(id).slice(1))
  }

  /** Returns true while an event that names the file may still come. */
  waits(id: MediaId): boolean {
    return this.#young(id).length > 0
  }

  /** Forgets those that waited for too long. */
  age(): void {
    for (const id of this.#kept.keys()) this.#put(id, this.#young(id))
  }

  #young(id: MediaId): readonly number[] {
    const now = this.#clock.elapsed()
    return (this.#kept.get(id) ?? []).filter((at) => now - at <= KEPT_MS)
  }

  #put(id: MediaId, kept: readonly number[]): void {
    if (kept.length === 0) this.#kept.delete(id)
    else this.#kept.set(id, kept)
  }
}
