import { describe, expect, it, onTestFinished } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { deferred } from '../../src/core/deferred.ts'
import type { Dispatch } from '../../src/core/dispatch.ts'
import { createIdSource, toScheduleId } from '../../src/core/ids.ts'
import { createScheduleService, operatorSchedules } from '../../src/schedule/schedule-service.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { syncSchedules } from '../../src/schedule/sync-schedules.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { hourly, MORNING, startRig, utc } from './rig.ts'

async function parts(clock: Clock = systemClock) {
  const store = await openSqliteStore({ path: readyDatabase(`${await localFolder()}/parley.db`), clock })
  onTestFinished(() => store.close())
  const ids = createIdSource({ now: clock.now, randomBytes: (count) => new Uint8Array(count) })
  const accepted: Dispatch[] = []
  const accept = async (dispatch: Dispatch): Promise<void> => void accepted.push(dispatch)
  return {
    store,
    clock,
    ids,
    logger: new AwaitedLog(),
    accept,
    accepted,
    agents: [],
    caseSensitive: [],
    roleOf: async () => 'guest' as const,
    joinedAt: async () => undefined,
    follow: (address: Address) => address,
    isPlace: () => true,
  }
}

describe('the service', () => {
  it('without a schedule does nothing, and says so', async () => {
    const service = createScheduleService(await parts())
    await service.start([])
    expect(await service.operator.list()).toEqual([])
    await expect(service.operator.run('morning')).rejects.toMatchObject({ code: 'not_found' })
    await service.stop()
  })

  it('runs what it is asked for as soon as it has started, and nothing once it is stopped', async () => {
    const given = await parts()
    const service = createScheduleService(given)
    await service.start([{ id: MORNING, definition: { ...hourly, cron: '0 0 1 1 *' } }])
    const { traceId } = await service.operator.run('morning')
    expect(given.accepted).toMatchObject([{ traceId }])
    expect(await service.operator.list()).toMatchObject([{ id: 'morning', last: { state: 'claimed', traceId } }])
    await service.stop()
    await expect(service.operator.run('morning')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('takes up a schedule that is only in the store', async () => {
    const given = await parts()
    const made = { id: MORNING, source: 'command', definition: hourly } as const
    await given.store.write((tx) => tx.schedules.put(made, systemClock.now()))
    const service = createScheduleService(given)
    await service.start([])
    expect(await service.operator.list()).toMatchObject([{ source: 'command' }])
    await service.stop()
  })
})

describe('what an operator sees of a store', () => {
  it('lists schedules with the next slot and the last outcome, and looking changes nothing', async () => {
    const { store, clock, ...rig } = await startRig()
    await rig.at(utc(10))
    await rig.finish('silent')
    const seen = operatorSchedules({ store, clock, isPlace: () => true })
    const [before, after] = [await seen.list(), await seen.list()]
    expect(after).toEqual(before)
    expect(before).toMatchObject([
      {
        id: 'morning',
        deliverTo: 'telegram:group:-1002/7',
        missed: 'once',
        nextAt: utc(11),
        last: { slotAt: utc(10), state: 'done', outcome: 'silent' },
      },
    ])
    expect(await seen.next('morning', 2)).toEqual([utc(11), utc(12)])
  })

  it('refuses what it cannot say: an unknown id, a count out of range, a run without a daemon', async () => {
    const { store, clock } = await startRig()
    const seen = operatorSchedules({ store, clock, isPlace: () => true })
    await expect(seen.next('nobody', 1)).rejects.toMatchObject({ code: 'not_found' })
    for (const count of [0, 101, 1.5]) {
      await expect(seen.next('morning', count)).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(seen.run('morning')).rejects.toMatchObject({ code: 'unavailable' })
  })
})

it('a tick that fails is logged once, rests, and the slot runs after it', async () => {
  const { store, clock } = await startRig()
  const given = { ...(await parts(clock)), store }
  const handedOn = deferred()
  let [full, onTick] = [true, (): void => {}]
  const accept = async (): Promise<void> => {
    if (full) throw new Error('the disk is full')
    handedOn.resolve()
  }
  const ticks = (tick: () => void) => {
    onTick = tick
    return () => {}
  }
  const id = toScheduleId('other')
  await syncSchedules(given, [{ id, definition: hourly }])
  const scheduler = new Scheduler({ ...given, accept, ticks })
  await scheduler.start()
  clock.advance(utc(10) - clock.now())
  onTick()
  await given.logger.line('Schedules could not be looked at and will be again')
  onTick()
  full = false
  clock.advance(10_000)
  onTick()
  await handedOn.promise
  await scheduler.stop()
  const failures = given.logger.lines.filter(({ sentence }) => sentence.startsWith('Schedules could not'))
  expect(failures).toHaveLength(1)
  expect(await store.read.schedules.recent(id, 9)).toHaveLength(1)
})
