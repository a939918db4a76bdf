import { onTestFinished } from 'vitest'
import type { Dispatch } from '../../src/core/dispatch.ts'
import { createIdSource, toAccountId, toAgentId, toScheduleId } from '../../src/core/ids.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import type { ConfiguredSchedule, CronDefinition, ScheduleSlot } from '../../src/core/schedule.ts'
import type { Role } from '../../src/core/session.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { syncSchedules } from '../../src/schedule/sync-schedules.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { type MovedClock, movedClock } from '../agent/moved-clock.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { decisionOf } from '../store/sample-rows.ts'

export const MORNING = toScheduleId('morning')
export const HOUR_MS = 3_600_000

export const hourly: CronDefinition = {
  cron: '0 * * * *',
  timezone: 'UTC',
  prompt: 'What is new?',
  deliverTo: { channel: 'telegram', account: toAccountId(''), chatType: 'group', chat: '-1002', topic: '7' },
  missed: { kind: 'once' },
  overlap: 'skip',
}

/** A scheduler over a real store and a clock that is moved. The pipeline behind it only takes dispatches in. */
export interface Rig {
  readonly clock: MovedClock
  readonly store: Store
  /** Everything that was accepted, in order. */
  readonly accepted: Dispatch[]
  /** Lets a tick find the time `at`. */
  at(at: number): Promise<void>
  tick(): Promise<void>
  /** Ends the runs under way as the pipeline would. */
  finish(outcome?: 'answered' | 'silent' | 'failed'): Promise<void>
  configure(...schedules: readonly ConfiguredSchedule[]): Promise<void>
  /** Another process on the same store: `crash` leaves the first where it is. */
  restart(how?: 'stop' | 'crash'): Promise<void>
  scheduler(): Scheduler
  /** As `14:00 done answered`, oldest first. */
  slots(): Promise<readonly string[]>
  /** The times of the accepted slots. */
  ran(): readonly string[]
  rows(): Promise<readonly ScheduleSlot[]>
}

export interface RigOptions {
  readonly definition?: Partial<CronDefinition>
  readonly start?: number
  /** The store fails on an accept as long as this says so. */
  readonly refuses?: () => boolean
  readonly roles?: Readonly<Record<string, Role>>
  readonly logger?: Logger
}

export async function startRig({
  definition = {},
  start = Date.UTC(2026, 10, 21, 9, 30),
  ...options
}: RigOptions = {}) {
  const folder = await localFolder()
  const clock = movedClock(start)
  const ids = createIdSource({ now: clock.now, randomBytes: (count) => new Uint8Array(count) })
  const logger = options.logger ?? silentLogger
  const store = await openSqliteStore({ path: readyDatabase(`${folder}/parley.db`), clock, logger: silentLogger })
  onTestFinished(() => store.close())
  const accepted: Dispatch[] = []

  /** What the pipeline's accept commits: one row an event key, bound to a turn. */
  const accept = async (dispatch: Dispatch): Promise<void> => {
    if (options.refuses?.()) throw new Error('the disk is full')
    const decision = { ...decisionOf(1), identity: dispatch.schedule?.creator ?? { role: 'guest' } } as const
    const row = { id: ids.inbox(), dispatch, decision, turnId: ids.turn(), state: 'claimed' } as const
    if (await store.write((tx) => tx.inbox.add(row))) accepted.push(dispatch)
  }
  const roleOf = async (person: string): Promise<Role> => options.roles?.[person] ?? 'guest'
  const agents = [toAgentId('main')]
  const powers = { store, clock, ids, logger, accept, roleOf }
  const make = () =>
    new Scheduler({
      ...powers,
      agents,
      caseSensitive: [],
      joinedAt: async () => undefined,
      follow: (address) => address,
      ticks: () => () => {},
    })
  let scheduler = make()

  const rows = async (): Promise<readonly ScheduleSlot[]> =>
    (await store.read.schedules.recent(MORNING, 200)).toReversed()
  const rig: Rig = {
    clock,
    store,
    accepted,
    scheduler: () => scheduler,
    rows,
    tick: () => scheduler.tick(),
    async at(at) {
      clock.advance(at - clock.now())
      await scheduler.tick()
    },
    async finish(outcome = 'answered') {
      for (const { id, turnId, state } of await store.read.inbox.recent(100)) {
        if (state === 'claimed' && turnId) await store.write((tx) => tx.inbox.settle(id, outcome))
      }
      await scheduler.tick()
    },
    async configure(...schedules) {
      await syncSchedules({ store, clock, logger }, schedules)
      await scheduler.reload()
    },
    async restart(how = 'stop') {
      if (how === 'stop') await scheduler.stop()
      scheduler = make()
      await scheduler.start()
    },
    slots: async () =>
      (await rows()).map(({ slotAt, state, outcome }) => [timeOf(slotAt), state, outcome ?? ''].join(' ').trim()),
    ran: () => accepted.map(({ event }) => timeOf(event.sentAt)),
  }
  await rig.configure({ id: MORNING, definition: { ...hourly, ...definition } })
  await scheduler.start()
  return rig
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}

/** `utc(14, 5)` on the day the rig begins, at 09:30. */
export function utc(hour: number, minute = 0, second = 0): number {
  return Date.UTC(2026, 10, 21, hour, minute, second)
}
