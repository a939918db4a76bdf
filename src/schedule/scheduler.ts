import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { ScheduleId } from '../core/ids.ts'
import type { RequestId } from '../core/keyed-request.ts'
import type { StartedRun } from '../core/operate-schedules.ts'
import type { Schedule } from '../core/schedule.ts'
import type { BeginRunDeps } from './begin-run.ts'
import { type ClaimSlotsDeps, claimSlots } from './claim-slots.ts'
import { advanceRuns, endRuns, skipInterrupted } from './owed-runs.ts'
import { nextSlot } from './slots.ts'
import type { Ticks } from './ticks.ts'

export interface SchedulerDeps extends ClaimSlotsDeps, BeginRunDeps {
  readonly ticks: Ticks
}

interface Armed {
  readonly schedule: Schedule
  /** The first slot that is not claimed; undefined if none comes. */
  readonly next: number | undefined
}

/** The pause after the store failed. */
const REST_MS = 10_000

/** Runs what is due. Its memory is only a hint of when to look at the store. */
export class Scheduler {
  readonly #deps: SchedulerDeps
  readonly #armed = new Map<ScheduleId, Armed>()
  /** True if there may be a claimed slot that has not ended. */
  #owing = true
  #resting = false
  #stopped = false
  #stopTicks: () => void = () => {}
  #busy = 0
  #work: Promise<unknown> = Promise.resolve()

  constructor(deps: SchedulerDeps) {
    this.#deps = deps
  }

  /** Resumes slots that were claimed and not run, and begins to tick. */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      await skipInterrupted(this.#deps)
      await this.#load()
      this.#stopTicks = this.#deps.ticks(() => this.#tickByItself())
    })
  }

  /** Looks at the clock once: claims what is due, begins and ends runs. Ticks follow one another. */
  tick(): Promise<void> {
    return this.#inTurn(() => this.#tick())
  }

  /** Called when schedules were added, changed or removed. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#load())
  }

  /** Implements `OperatorService.schedules.run`. */
  runNow(id: ScheduleId, once?: RequestId): Promise<StartedRun> {
    return this.#inTurn(() => this.#runNow(id, once))
  }

  /** Stops ticking; resolves when the work under way has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopTicks()
    await this.#work
  }

  /** Runs one body at a time, in order. */
  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    this.#busy++
    const done = this.#work.then(body).finally(() => this.#busy--)
    this.#work = done.catch(() => {})
    return done
  }

  /** The scheduler survives a store that fails: due slots are still due when it works again. */
  #tickByItself(): void {
    if (this.#busy > 0 || this.#resting || this.#stopped) return
    this.tick().catch((err: unknown) => {
      const { logger, clock } = this.#deps
      logger.error('Schedules could not be looked at and will be again', { err })
      this.#owing = true
      this.#resting = true
      clock.after(REST_MS, () => {
        this.#resting = false
      })
    })
  }

  async #load(): Promise<void> {
    this.#owing = true
    this.#armed.clear()
    for (const schedule of await this.#deps.store.read.schedules.all()) this.#arm(schedule)
  }

  #arm(schedule: Schedule): void {
    if (schedule.paused) this.#armed.delete(schedule.id)
    else this.#armed.set(schedule.id, { schedule, next: nextSlot(schedule.definition, schedule.evaluatedTo) })
  }

  async #tick(): Promise<void> {
    if (this.#stopped) return
    // A run that has ended since the last tick must not delay a slot that is due.
    if (this.#owing) await endRuns(this.#deps)
    for (const { schedule, next } of [...this.#armed.values()]) {
      const now = this.#deps.clock.now()
      const due = next !== undefined && now >= next
      if (due || now < schedule.evaluatedTo) await this.#decide(schedule)
    }
    if (this.#owing) this.#owing = await advanceRuns(this.#deps)
  }

  async #decide(schedule: Schedule): Promise<void> {
    if ((await claimSlots(this.#deps, schedule)) > 0) this.#owing = true
    const stored = await this.#deps.store.read.schedules.get(schedule.id)
    if (stored) this.#arm(stored)
    else this.#armed.delete(schedule.id)
  }

  async #runNow(id: ScheduleId, once: RequestId | undefined): Promise<StartedRun> {
    const { store, clock, ids } = this.#deps
    const before = once && (await store.read.keyedRequests.effect(once))
    if (before !== undefined) return JSON.parse(before) as StartedRun
    if (this.#stopped) throw new ParleyError('unavailable', 'The daemon is stopping.')
    await endRuns(this.#deps)
    const slotAt = clock.now()
    const traceId = ids.trace()
    await store.write(async (tx) => {
      if (!(await tx.schedules.get(id))) throw new ParleyError('not_found', `There is no schedule ${id}.`)
      const owed = (await tx.schedules.claimed()).some((slot) => slot.scheduleId === id)
      if (owed || !(await tx.schedules.addSlot({ scheduleId: id, slotAt, state: 'claimed', at: slotAt, traceId }))) {
        throw new ParleyError('conflict', `The schedule ${id} is running; wait until it has ended.`)
      }
      if (once) await tx.keyedRequests.took(once, JSON.stringify({ slotAt, traceId }))
    })
    failpoint('CP15-slot-claimed')
    this.#owing = await advanceRuns(this.#deps)
    const [latest] = (await store.read.schedules.recent(id, 1)).filter((slot) => slot.traceId === traceId)
    if (latest?.state === 'failed') throw new ParleyError('forbidden', `The run was ${latest.outcome}.`)
    return { slotAt, traceId }
  }
}
