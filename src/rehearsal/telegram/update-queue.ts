import type { UpdateEntry } from './ledger-entries.ts'

export interface QueuedUpdate {
  readonly id: number
  /** The JSON text of the Update, written once. */
  readonly json: string
  /** Updates of one lane are posted to a webhook one after another. */
  readonly lane: string
  times: number
}

export interface OfferedUpdate {
  readonly type: string
  /** The object it carries, for the ledger; null if only the text is known. */
  readonly payload: object | null
  write(updateId: number): string
}

export interface TakeUpdates {
  offset: number
  limit: number
}

/** The platform answers from the head of the queue when the offset lies further than this beyond the newest id. */
const futureSlack = 10

/**
 * The updates of one bot that were not confirmed yet. `take` confirms everything below the offset and hands out the
 * rest again, as often as it is asked.
 */
export class UpdateQueue {
  readonly #record: (entry: UpdateEntry) => void
  readonly #owner: { readonly botId: number; readonly now: () => number }
  #waiting: QueuedUpdate[] = []
  #nextId: number

  constructor(
    owner: { botId: number; now: () => number; firstUpdateId: number },
    record: (entry: UpdateEntry) => void,
  ) {
    this.#owner = owner
    this.#record = record
    this.#nextId = owner.firstUpdateId
  }

  /** Returns the unconfirmed updates, oldest first. */
  get waiting(): readonly QueuedUpdate[] {
    return this.#waiting
  }

  get pending(): number {
    return this.#waiting.length
  }

  /** Puts an update at the end and returns its id. */
  offer(update: OfferedUpdate): number {
    const id = this.#nextId++
    const { type, payload } = update
    this.#waiting.push({ id, json: update.write(id), lane: laneOf(type, payload) ?? `update:${id}`, times: 0 })
    const { botId, now } = this.#owner
    this.#record({ kind: 'offered', at: now(), botId, updateId: id, type, payload })
    return id
  }

  /**
   * Sets the next id. The platform uses a lower one only after a quiet week, so it is refused while updates wait.
   * @throws Error when a lower id is asked for and the queue is not empty
   */
  jumpTo(updateId: number): void {
    if (updateId < this.#nextId && this.#waiting.length > 0) {
      throw new Error(`${this.#waiting.length} updates wait unconfirmed; ids can only jump lower on an empty queue.`)
    }
    this.#nextId = updateId
  }

  take({ offset, limit }: TakeUpdates): QueuedUpdate[] {
    if (offset < 0) this.#confirm(Math.max(0, this.#waiting.length + offset))
    else if (offset <= this.#nextId + futureSlack) this.#confirm(this.#below(offset))
    const batch = this.#waiting.length > limit ? this.#waiting.slice(0, limit) : [...this.#waiting]
    for (const update of batch) this.handOut(update)
    return batch
  }

  /** Records that an update is on its way. */
  handOut(update: QueuedUpdate): void {
    const { botId, now } = this.#owner
    update.times++
    this.#record({ kind: 'delivered', at: now(), botId, updateId: update.id, times: update.times })
  }

  /** Confirms one update at any position. */
  settle(update: QueuedUpdate): void {
    const at = this.#waiting.indexOf(update)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    const { botId, now } = this.#owner
    this.#record({ kind: 'confirmed', at: now(), botId, updateId: update.id })
  }

  /** Forgets the waiting updates (drop_pending_updates). */
  clear(): void {
    this.#waiting = []
  }

  #below(offset: number): number {
    let count = 0
    for (const update of this.#waiting) {
      if (update.id >= offset) break
      count++
    }
    return count
  }

  #confirm(count: number): void {
    if (count === 0) return
    const { botId, now } = this.#owner
    for (const update of this.#waiting.splice(0, count)) {
      this.#record({ kind: 'confirmed', at: now(), botId, updateId: update.id })
    }
  }
}

/**
 * Returns the lane in the platform's order: the messages of a chat are in order, every other update is by itself.
 * Undefined if it is not known.
 */
function laneOf(type: string, payload: object | null): string | undefined {
  const { chat, from } = (payload ?? {}) as { chat?: { id: number }; from?: { id: number } }
  if (chat !== undefined)
    return /message|post/.test(type) && !/reaction/.test(type) ? `${chat.id}` : `${type}:${chat.id}`
  return from === undefined ? undefined : `${type}:${from.id}`
}
