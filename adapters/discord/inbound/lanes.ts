import { type Clock, sleep } from '../../../src/core/clock.ts'
import { createBackoff } from '../../shared/backoff.ts'

/** Rejects when it could not be done; it is then done again. */
export type Task = () => Promise<void>

export interface LanePorts {
  readonly clock: Clock
  random(): number
  readonly signal: AbortSignal
  /** Reads a channel again after some of it had to be let go. */
  catchUp(channelId: string): Task
  /** Told once of each thing that has to be tried again. */
  failed(error: unknown, channelId: string): void
}

interface Lane {
  readonly tasks: Task[]
  running: boolean
  /** Something was let go: what is stored by the platform has to be read again. */
  behind: boolean
}

/** More than a busy channel says while a disk is full for minutes; beyond it the platform's history is the queue. */
const MOST_WAITING = 500
const CAP_MS = 10_000

/**
 * One channel after another's order, each channel by itself: what was said is handed over in order, and what could not
 * be stored holds up its channel only. The gateway repeats nothing, so it is tried until it is stored or we stop.
 */
export class Lanes {
  readonly #ports: LanePorts
  readonly #lanes = new Map<string, Lane>()
  readonly #work = new Set<Promise<void>>()

  constructor(ports: LanePorts) {
    this.#ports = ports
  }

  push(channelId: string, task: Task): void {
    if (this.#ports.signal.aborted) return
    const lane = this.#lanes.get(channelId) ?? { tasks: [], running: false, behind: false }
    this.#lanes.set(channelId, lane)
    if (lane.tasks.length >= MOST_WAITING) {
      lane.behind = true
      return
    }
    lane.tasks.push(task)
    if (lane.running) return
    lane.running = true
    const work = this.#run(channelId, lane)
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }

  /** Whether something of the channel waits or is under way. */
  has(channelId: string): boolean {
    return this.#lanes.has(channelId)
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  async #run(channelId: string, lane: Lane): Promise<void> {
    const { signal } = this.#ports
    for (let task = lane.tasks[0]; task !== undefined && !signal.aborted; task = lane.tasks[0]) {
      await this.#persist(task, channelId)
      lane.tasks.shift()
      if (lane.tasks.length > 0 || !lane.behind) continue
      lane.behind = false
      lane.tasks.push(this.#ports.catchUp(channelId))
    }
    this.#lanes.delete(channelId)
  }

  async #persist(task: Task, channelId: string): Promise<void> {
    const { clock, signal, failed } = this.#ports
    const backoff = createBackoff({ baseMs: 500, capMs: CAP_MS, random: () => this.#ports.random() })
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await task()
      } catch (error) {
        if (signal.aborted) return
        if (attempt === 1) failed(error, channelId)
        await sleep(clock, backoff.nextDelay(attempt), signal)
      }
    }
  }
}
