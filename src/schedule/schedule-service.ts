import { randomUUID } from 'node:crypto'
import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { toScheduleId } from '../core/ids.ts'
import type { OperatorService } from '../core/operator.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'
import type { Store } from '../store/store.ts'
import type { Scheduler, SchedulerDeps } from './scheduler.ts'

export interface ServiceDeps extends Omit<SchedulerDeps, 'ticks'>, Places {}

interface Places {
  /** Returns true for an address on a channel of the configuration. */
  isPlace(this: void, address: Address): boolean
}

/** The schedules as the daemon and its operator see them. */
export interface ScheduleService {
  /** Brings the store in line with the configuration and begins to run what is due. */
  start(configured: readonly ConfiguredSchedule[]): Promise<void>
  /** Called once a schedule was added or removed by somebody in a chat. */
  changed(): Promise<void>
  readonly operator: OperatorService['schedules']
  /** Resolves when nothing more is handed to the pipeline. Idempotent. */
  stop(): Promise<void>
}

/** Returns the service. A daemon without a schedule never loads the calendar, which costs some megabytes. */
export function createScheduleService(deps: ServiceDeps): ScheduleService {
  const { store, clock } = deps
  let running: Promise<Scheduler> | undefined
  let stopped = false

  async function open(): Promise<Scheduler> {
    const [{ Scheduler }, { steadyTicks }] = await Promise.all([import('./scheduler.ts'), import('./ticks.ts')])
    const scheduler = new Scheduler({ ...deps, ticks: steadyTicks(clock) })
    if (!stopped) await scheduler.start()
    return scheduler
  }

  /** Begins to run what is due, or looks at the store again. */
  async function look(): Promise<void> {
    if (running !== undefined) return (await running).reload()
    running = open()
    await running
  }

  return {
    async start(configured) {
      if (configured.length + (await store.read.schedules.all()).length === 0) return
      const { syncSchedules } = await import('./sync-schedules.ts')
      await syncSchedules(deps, configured)
      await look()
    },
    changed: look,
    operator: operatorSchedules({ store, clock, isPlace: deps.isPlace, changed: look }, async (id, once) => {
      if (running === undefined) throw new ParleyError('not_found', `There is no schedule ${id}.`)
      return (await running).runNow(toScheduleId(id), once)
    }),
    async stop() {
      stopped = true
      await (await running)?.stop()
    },
  }
}

interface OperatorDeps extends Places {
  readonly store: Store
  readonly clock: Clock
  /** Called once a schedule was changed; absent without a daemon, which reads them at its start. */
  changed?(this: void): Promise<void>
}

/** Returns the operator's view of a store's schedules; only the daemon can `run` one. */
export function operatorSchedules(
  { store, clock, isPlace, changed = async () => {} }: OperatorDeps,
  run: OperatorService['schedules']['run'] = async () => {
    throw new ParleyError('unavailable', 'No daemon is running; "parley start" runs schedules.')
  },
): OperatorService['schedules'] {
  const change = async (id: string, paused: boolean) => {
    const summary = await (await import('./change-schedule.ts')).pauseSchedule({ store, clock }, id, paused)
    await changed()
    return summary
  }
  return {
    async add(wanted, once) {
      const { addSchedule } = await import('./change-schedule.ts')
      const added = await addSchedule({ store, clock, isPlace }, wanted, once ?? randomUUID())
      await changed()
      return added
    },
    list: async () => (await import('./report.ts')).listSchedules(store.read, clock.now()),
    next: async (id, count) => (await import('./report.ts')).nextOf(store.read, id, { count, now: clock.now() }),
    run,
    ...{ pause: (id) => change(id, true), resume: (id) => change(id, false) },
    async remove(id) {
      const removed = await (await import('./change-schedule.ts')).removeSchedule({ store, clock }, id)
      await changed()
      return removed
    },
  }
}
