import type { ChannelCursor, ChannelSink } from '../../src/channels/adapter.ts'
import type { InboundEvent } from '../../src/core/message.ts'
import type { OwnerNotice } from '../../src/core/owner-notice.ts'

interface Waiter {
  readonly ready: () => boolean
  readonly resolve: () => void
}

/**
 * A sink that keeps what it is handed. `accepting` is what a store would do: by default it commits at once. A repeated
 * key is listed in `offered` again but not in `events`, as the real sink does nothing for it.
 */
export class RecordingSink implements ChannelSink {
  /** Every accept, repetitions too. */
  readonly offered: InboundEvent[] = []
  /** What was committed, each key once, in the order of the commits. */
  readonly events: InboundEvent[] = []
  readonly cursors = new Map<string, string>()
  readonly dropped: string[] = []
  readonly notices: OwnerNotice[] = []
  /** The small memory of the account; another sink of the same account is given it. */
  readonly stored: Map<string, string>
  accepting: (event: InboundEvent) => Promise<void> = () => Promise.resolve()
  readonly #keys = new Set<string>()
  readonly #waiters = new Set<Waiter>()

  constructor(stored = new Map<string, string>()) {
    this.stored = stored
  }

  readonly state = {
    get: (key: string) => Promise.resolve(this.stored.get(key)),
    set: (key: string, value: string) => {
      this.stored.set(key, value)
      this.#wake()
      return Promise.resolve()
    },
    delete: (key: string) => {
      this.stored.delete(key)
      this.#wake()
      return Promise.resolve()
    },
  }

  async accept(event: InboundEvent, position?: ChannelCursor): Promise<void> {
    this.offered.push(event)
    this.#wake()
    await this.accepting(event)
    if (position !== undefined) {
      this.cursors.set(position.key, position.value)
      this.stored.set(position.key, position.value)
      this.#wake()
    }
    if (this.#keys.has(event.eventKey)) return
    this.#keys.add(event.eventKey)
    this.events.push(event)
    this.#wake()
  }

  unknown(kind: string): void {
    this.dropped.push(kind)
    this.#wake()
  }

  notifyOwners(notice: OwnerNotice): void {
    this.notices.push(notice)
    this.#wake()
  }

  /** The texts committed so far. */
  get texts(): string[] {
    return this.events.flatMap((event) => ('text' in event ? [event.text] : []))
  }

  /** Resolves with the first `count` committed events as soon as there are so many. */
  async committed(count: number): Promise<InboundEvent[]> {
    await this.until(() => this.events.length >= count)
    return this.events.slice(0, count)
  }

  /** Resolves once `ready` holds; looked at whenever something comes in. */
  until(ready: () => boolean): Promise<void> {
    if (ready()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiters.add({ ready, resolve })
    })
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.ready()) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
