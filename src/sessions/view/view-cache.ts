import { type Clock, type Moment, momentOf, passedSince } from '../../core/clock.ts'
import type { SessionId } from '../../core/ids.ts'
import type { ModelView } from './model-view.ts'

/** The views that stay however long nobody has used them. */
export const NEWEST_VIEWS = 500
/** The time for which a view stays after its last use, however many are newer. */
export const VIEW_IDLE_MS = 30 * 60_000
/** The views that stay in a crowd whose sessions all were used a moment ago: memory has an end. */
export const MOST_VIEWS = 5_000

export interface ViewCachePorts {
  readonly clock: Clock
  /** Returns true while a turn of the session runs. */
  runs(session: SessionId): boolean
}

interface Kept {
  readonly view: ModelView
  readonly used: Moment
}

/**
 * The views of sessions in memory; each can be read again from its log. A view stays while it is among the newest 500,
 * was used within 30 minutes, or a turn of its session runs (R6, R7). What is due is looked for at each use, and by one
 * timer for all where nothing is used any more.
 */
export class ViewCache {
  readonly #ports: ViewCachePorts
  /** In the order of use, the one used longest ago first. */
  readonly #kept = new Map<SessionId, Kept>()
  #waits = false

  constructor(ports: ViewCachePorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#kept.size
  }

  get(id: SessionId): ModelView | undefined {
    return this.#kept.get(id)?.view
  }

  /** Keeps a view as the one used last. Whoever uses a view sets it again, or runs a turn of the session. */
  set(id: SessionId, view: ModelView): void {
    this.#kept.delete(id)
    this.#kept.set(id, { view, used: momentOf(this.#ports.clock) })
    if (this.#kept.size > NEWEST_VIEWS) this.#release()
  }

  delete(id: SessionId): void {
    this.#kept.delete(id)
  }

  /** Looks at each view once at most: those of turns that run are put behind the others. */
  #release(): void {
    const { clock, runs } = this.#ports
    let unseen = this.#kept.size
    for (const [id, { view, used }] of this.#kept) {
      if (this.#kept.size <= NEWEST_VIEWS || unseen-- === 0) break
      const idle = passedSince(clock, used)
      if (idle < VIEW_IDLE_MS && this.#kept.size <= MOST_VIEWS) {
        this.#releaseIn(VIEW_IDLE_MS - idle)
        return
      }
      this.#kept.delete(id)
      if (runs(id)) this.#kept.set(id, { view, used: momentOf(clock) })
    }
    if (this.#kept.size > NEWEST_VIEWS) this.#releaseIn(VIEW_IDLE_MS)
  }

  #releaseIn(ms: number): void {
    if (this.#waits) return
    this.#waits = true
    this.#ports.clock.after(ms, () => {
      this.#waits = false
      this.#release()
    })
  }
}
