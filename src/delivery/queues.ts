import { setImmediate } from 'node:timers/promises'
import { type Address, conversationOf } from '../core/address.ts'
import { backOffMs } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { failpoint } from '../core/failpoint.ts'
import type { AccountId, ChannelId, SourceId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Activity } from './activity.ts'
import type { Conversation, Entry, Head } from './conversation.ts'
import type { Asking, EffectResult, Facts } from './item.ts'
import { goesAhead, insert, isCrowded, type LowWaiting, letAhead, rankOf, takeSuperseded } from './low-priority.ts'
import { next } from './next.ts'

export interface QueueDeps {
  readonly clock: Clock
  readonly logger: Logger
  facts(conversation: Conversation, answer: EffectResult | undefined): Facts
  /** Performs the effect that `next` asked for. */
  perform(effect: Asking, head: Head): Promise<EffectResult>
  ready(address: Address): boolean
  /** Called with the parts that are not sent any more because newer answers replaced them. */
  superseded(entries: readonly Entry[]): void
  /** Counts all work, so that a caller can wait for its end. */
  readonly activity: Activity
}

/** The parts of all conversations that are on their way. */
export interface Queues {
  /**
   * Returns true if nothing is queued or held for the conversation, so that a part planned now may be `sending` at
   * once.
   */
  free(address: Address, source: SourceId): boolean
  /**
   * Announces a part that is `sending` and comes with `push`; returns the function that takes this back. It is only a
   * hint: one that never comes delays nobody.
   */
  announce(address: Address, source: SourceId): () => void
  push(address: Address, entries: readonly Entry[]): void
  /**
   * Returns true if so many parts of low priority wait for this account, or in this chat, that no more should be added.
   */
  crowded(address: Address): boolean
  /** Called when an adapter became ready. */
  wake(channel: ChannelId, account: AccountId): void
  /** Starts nothing more; work under way ends. */
  stop(): void
}

interface Queue extends Conversation {
  readonly key: string
  state: 'running' | 'waiting' | 'parked'
  failures: number
  cancel: (() => void) | undefined
}

const WRITE_PACE = { firstMs: 500, longestMs: 10_000 }
/** The queues started before the event loop runs again, after a long backlog. */
const WAKE_AT_ONCE = 64

export function createQueues(deps: QueueDeps): Queues {
  return new ConversationQueues(deps)
}

/** Queues in memory, rebuilt from the store; conversations never wait for each other. */
class ConversationQueues implements Queues {
  readonly #deps: QueueDeps
  readonly #queues = new Map<string, Queue>()
  /** The queues in which a part of low priority may wait that is not under way; the others are not searched. */
  readonly #low = new Set<Queue>()
  readonly #announced = new Map<string, SourceId>()
  #stopped = false

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  free(address: Address, source: SourceId): boolean {
    const key = conversationOf(address)
    const holder = this.#announced.get(key)
    return !this.#queues.has(key) && (holder === undefined || holder === source)
  }

  announce(address: Address, source: SourceId): () => void {
    const key = conversationOf(address)
    const known = this.#announced.has(key)
    this.#announced.set(key, source)
    return () => void (known || this.#announced.delete(key))
  }

  push(address: Address, entries: readonly Entry[]): void {
    const key = conversationOf(address)
    const known = this.#queues.get(key)
    const queue: Queue = known ?? { key, address, entries: [], state: 'parked', failures: 0, cancel: undefined }
    this.#queues.set(key, queue)
    const [head] = queue.entries
    const underWay = isUnderWay(queue)
    for (const entry of entries) insert(queue.entries, entry, underWay ? 1 : 0)
    const [{ lowPriority } = {}] = entries
    const superseded = lowPriority
      ? takeSuperseded(queue.entries, lowPriority, underWay ? head?.source : undefined)
      : []
    if (superseded.length > 0) this.#deps.superseded(superseded)
    const changed = queue.state === 'waiting' && queue.entries[0] !== head
    if ((queue.state === 'parked' || changed) && this.#mayStart(queue)) this.#start(queue)
    if (queue.state !== 'running' || queue.entries.length > 1) this.#noteLow(queue)
  }

  /** Counts anew each time, so that a part that left its queue in any way is not counted forever. */
  crowded({ channel, account, chat }: Address): boolean {
    return isCrowded(this.#waitingFor(channel, account), chat)
  }

  wake(channel: ChannelId, account: AccountId): void {
    const parked = [...this.#queues.values()].filter(
      ({ address }) => address.channel === channel && address.account === account,
    )
    const waking = startGently(parked, (queue) => {
      const stands = this.#queues.get(queue.key) === queue
      if (queue.state === 'parked' && !this.#stopped && stands) this.#start(queue)
    })
    this.#deps.activity.track(waking)
  }

  stop(): void {
    this.#stopped = true
    for (const queue of this.#queues.values()) queue.cancel?.()
  }

  /** Nearly always nothing waits, which makes this cheap enough to ask at each message of a stranger. */
  #waitingFor(channel: ChannelId, account: AccountId): readonly LowWaiting[] {
    const waiting: LowWaiting[] = []
    for (const queue of this.#low) {
      const { address } = queue
      const low = lowIn(queue)
      if (low > 0 && address.channel === channel && address.account === account)
        waiting.push({ chat: address.chat, low })
    }
    return waiting
  }

  /** Returns false for a queue without an adapter; one whose part is `sending` starts all the same, to put it back. */
  #mayStart({ address, entries }: Queue): boolean {
    return !this.#stopped && (this.#deps.ready(address) || entries[0]?.item.kind === 'sending')
  }

  /** Starts the one worker of a queue that waits. */
  #start(queue: Queue): void {
    queue.cancel?.()
    queue.state = 'running'
    void this.#work(queue)
  }

  async #work(queue: Queue): Promise<void> {
    const { activity, logger } = this.#deps
    activity.begin()
    // This is not `queue.state`, which may be `running` again, with the next worker, by the time it could be read here.
    let works = true
    while (works) {
      const head = first(queue)
      if (head === undefined) break
      try {
        works = await this.#advance(queue, head)
        queue.failures = 0
      } catch (err) {
        if (!this.#stopped)
          logger.error('A delivery could not be recorded and will be tried again', { err, id: head.id })
        this.#rest(queue, backOffMs(++queue.failures, WRITE_PACE))
        works = false
      }
    }
    if (works) {
      this.#queues.delete(queue.key)
      this.#announced.delete(queue.key)
      this.#low.delete(queue)
    }
    activity.end()
  }

  /** Advances the head until it waits or leaves. Returns false when the queue waits: its worker ends then. */
  async #advance(queue: Queue, entry: Entry): Promise<boolean> {
    const { clock, facts, perform } = this.#deps
    let answer: EffectResult | undefined
    while (true) {
      const [item, effect] = next(entry.item, facts(queue, answer))
      entry.item = item
      switch (effect.do) {
        case 'leave':
          this.#leave(queue, entry)
          return true
        case 'wait':
          if (overtaken(queue)) return true
          this.#rest(queue, effect.until - clock.elapsed())
          return false
        case 'park':
          // An adapter that became ready in the meantime has woken nobody here.
          if (!this.#stopped && this.#deps.ready(queue.address)) return true
          queue.state = 'parked'
          this.#noteLow(queue)
          return false
        default:
          entry.begun ||= effect.do === 'begin'
          answer = await perform(effect, { entry, conversation: queue })
      }
    }
  }

  #leave(queue: Queue, entry: Entry): void {
    queue.entries.shift()
    for (const other of queue.entries) if (other.source === entry.source) other.begun = true
    if (queue.entries[0]?.source === entry.source) failpoint('CP14-between-chunks')
  }

  /** Called when a part of the queue begins to wait. */
  #noteLow(queue: Queue): void {
    if (queue.entries.some(({ lowPriority }) => lowPriority)) this.#low.add(queue)
  }

  #rest(queue: Queue, ms: number): void {
    queue.state = 'waiting'
    this.#noteLow(queue)
    if (this.#stopped) return
    queue.cancel = this.#deps.clock.after(Math.max(0, ms), () => {
      if (!this.#stopped) this.#start(queue)
    })
  }
}

/**
 * Returns true while an effect of the head is performed or its result is not on disk yet; nothing goes ahead of it
 * then.
 */
function isUnderWay({ state, entries: [head] }: Queue): boolean {
  return head !== undefined && (state === 'running' || isBetweenCallAndDisk(head))
}

function isBetweenCallAndDisk({ item: { kind } }: Entry): boolean {
  return kind === 'sending' || kind === 'recording'
}

/** Returns the parts of low priority that wait, without one that is under way. */
function lowIn(queue: Queue): number {
  const { entries } = queue
  if (entries.length === 1 && isUnderWay(queue)) return 0
  let low = isUnderWay(queue) && rankOf(entries[0]?.lowPriority) > 0 ? -1 : 0
  for (const { lowPriority } of entries) if (rankOf(lowPriority) > 0) low++
  return low
}

/** Returns the part to continue with when none is under way. */
function first({ entries }: Queue): Entry | undefined {
  const [head] = entries
  if (head && !isBetweenCallAndDisk(head)) letAhead(entries)
  return entries[0]
}

/** Returns true if a part came meanwhile that need not wait with the head. */
function overtaken({ entries: [head, second] }: Queue): boolean {
  return head !== undefined && second !== undefined && goesAhead(second, head)
}

async function startGently(queues: readonly Queue[], begin: (queue: Queue) => void): Promise<void> {
  for (const [index, queue] of queues.entries()) {
    if (index > 0 && index % WAKE_AT_ONCE === 0) await setImmediate()
    begin(queue)
  }
}
