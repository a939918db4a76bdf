import pLimit, { type LimitFunction } from 'p-limit'
import { type RetryPorts, type Task, untilDone } from './until-done.ts'

export interface QueuePorts extends RetryPorts {
  /** Tasks of one key that may wait; beyond it they are dropped. */
  readonly mostWaiting: number
  /** Returns the task that makes up for those of a key that were dropped. It runs once the others are done. */
  makeUp(key: string): Task
  /** Called once for each task that has to be tried again. */
  failed(error: unknown, key: string): void
}

interface Queue {
  readonly limit: LimitFunction
  /** Something was dropped. */
  behind: boolean
}

/**
 * Runs the tasks of one key one after another, and keys side by side. A task is tried until it is done, so that what
 * cannot be stored holds up its own key only. A key without tasks is forgotten, and after the signal aborts nothing
 * begins.
 */
export class KeyedQueue {
  readonly #ports: QueuePorts
  readonly #queues = new Map<string, Queue>()
  readonly #work = new Set<Promise<void>>()

  constructor(ports: QueuePorts) {
    this.#ports = ports
  }

  push(key: string, task: Task): void {
    if (this.#ports.signal.aborted) return
    const queue = this.#queues.get(key) ?? { limit: pLimit(1), behind: false }
    this.#queues.set(key, queue)
    if (queue.limit.activeCount + queue.limit.pendingCount >= this.#ports.mostWaiting) {
      queue.behind = true
      return
    }
    const work = queue.limit(() => this.#run(key, queue, task))
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }

  /** Returns true while a task of the key waits or runs. */
  has(key: string): boolean {
    return this.#queues.has(key)
  }

  /** Returns true if released tasks of the key are not made up for yet: a task pushed now comes after a gap. */
  isBehind(key: string): boolean {
    return this.#queues.get(key)?.behind === true
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Never rejects. */
  async #run(key: string, queue: Queue, task: Task): Promise<void> {
    await untilDone({ ...this.#ports, failed: (error) => this.#ports.failed(error, key) }, task)
    if (queue.limit.pendingCount > 0) return
    this.#queues.delete(key)
    if (queue.behind) this.push(key, this.#ports.makeUp(key))
  }
}
