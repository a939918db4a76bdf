import type { Address } from '../core/address.ts'
import type { SourceId } from '../core/ids.ts'
import type { LowPriority } from '../core/outbound.ts'

/** A part that waits in the queue of a conversation, as far as its priority goes. */
export interface Queued {
  readonly source: SourceId
  /** The priority it was planned with; absent: it is sent in its turn. */
  readonly lowPriority?: LowPriority
  /** While it waits: the account it waits for. */
  low?: string | undefined
  /** A part of its message has left, so nothing takes its place any more; what is urgent goes ahead of it all the same. */
  follows?: boolean | undefined
}

/** Parts that everything else goes ahead of, in the queues of all conversations. In memory. */
export interface LowQueues {
  /**
   * Puts the items of one message into the queue of a conversation: what is urgent before everything of low priority that
   * has not begun, the rest at the end. Returns the items that are not sent any more, whole messages, the oldest first:
   * newer answers to the same person, or to anybody there, took their place.
   */
  enqueue<Item extends Queued>(queue: Item[], items: readonly Item[], at: QueueAt): readonly Item[]
  /** A part was sent or given up: the rest of its message is brought to its end, part by part, each behind what is urgent. */
  left(queue: readonly Queued[], part: Queued): void
  /** So many parts wait for this account that no more should be added. */
  crowded(address: Address): boolean
}

interface QueueAt {
  readonly address: Address
  /** Nothing was tried with the head of the queue yet, and nothing is being done with it. */
  readonly headWaits: boolean
}

/** Answers to one person that may wait in a conversation, and answers to all of them together. */
const MOST_FOR_PERSON = 3
const MOST_IN_CHAT = 10
/** Parts that may wait for one account before it is crowded: some seconds of what it may send. */
const MOST_FOR_ACCOUNT = 100

export function createLowQueues(): LowQueues {
  const waiting = new Map<string, number>()
  const account = (address: Address): string => `${address.channel}@${address.account}`
  const count = (key: string, more: number): void => {
    const now = (waiting.get(key) ?? 0) + more
    if (now > 0) waiting.set(key, now)
    else waiting.delete(key)
  }
  const leave = (items: readonly Queued[]): void => {
    for (const item of items) {
      if (item.low !== undefined) count(item.low, -1)
      item.low = undefined
    }
  }
  return {
    enqueue(queue, items, { address, headWaits }) {
      const underWay = headWaits ? undefined : queue[0]
      const gives = (item: Queued): boolean => item.low !== undefined && item !== underWay
      const waits = items.filter(({ lowPriority }) => lowPriority !== undefined)
      const priority = waits[0]?.lowPriority
      if (priority === undefined) {
        const before = queue.findIndex(gives)
        queue.splice(before === -1 ? queue.length : before, 0, ...items)
        return []
      }
      const low = account(address)
      count(low, waits.length)
      for (const item of waits) item.low = low
      queue.push(...items)
      const whole = ({ follows, source }: Queued): boolean => follows !== true && source !== underWay?.source
      const answers = queue.filter((item) => gives(item) && whole(item) && item.lowPriority?.supersedes !== undefined)
      const superseded = takeSurplus(queue, answers, priority.supersedes)
      leave(superseded)
      return superseded
    },
    left(queue, part) {
      leave([part])
      for (const item of queue) if (item.source === part.source) item.follows = true
    },
    crowded: (address) => (waiting.get(account(address)) ?? 0) >= MOST_FOR_ACCOUNT,
  }
}

/** Takes what is beyond the bounds out of the queue. */
function takeSurplus<Item extends Queued>(
  queue: Item[],
  waiting: readonly Item[],
  person: string | undefined,
): readonly Item[] {
  const mine = waiting.filter(({ lowPriority }) => lowPriority?.supersedes === person)
  const gone = new Set([...beyond(mine, MOST_FOR_PERSON), ...beyond(waiting, MOST_IN_CHAT)])
  if (gone.size === 0) return []
  const taken = queue.filter(({ source }) => gone.has(source))
  const left = queue.filter(({ source }) => !gone.has(source))
  queue.splice(0, queue.length, ...left)
  return taken
}

/** The messages before the newest `most`. */
function beyond(waiting: readonly Queued[], most: number): readonly SourceId[] {
  const sources = [...new Set(waiting.map(({ source }) => source))]
  return sources.slice(0, Math.max(0, sources.length - most))
}
