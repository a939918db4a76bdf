import { expect, test } from 'vitest'
import { ChannelHub } from '../../src/channels/hub.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { closeDaemon, createStop, STOP_WITHIN_MS, type StoppedParts } from '../../src/daemon/stop.ts'
import { createRunningTurns } from '../../src/sessions/turns/running-turns.ts'
import type { StartedTurn } from '../../src/sessions/turns/started-turn.ts'
import { FakeChannel } from '../delivery/fake-channel.ts'
import { type SteppedClock, steppedClock } from '../delivery/stepped-clock.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'

const never = new Promise<void>(() => {})

/** Parts that end at once, each noting when it was told to. */
function doorsOn(
  clock: SteppedClock,
  changes: Partial<StoppedParts> = {},
): { doors: StoppedParts; steps: [string, number][] } {
  const steps: [string, number][] = []
  const start = clock.now()
  const told = (name: string) => steps.push([name, clock.now() - start])
  const done = (name: string) => async () => void told(name)
  const doors: StoppedParts = {
    sinks: { close: () => void told('sinks') },
    schedules: { stop: done('schedules') },
    running: { drain: done('turns') },
    delivery: { stop: done('delivery') },
    hub: { stop: done('channels') },
    api: { close: done('api') },
    live: { stop: () => void told('streams') },
    mcp: { close: done('tool servers') },
    hooks: { settled: done('hooks'), end() {} },
    store: { close: done('store') },
    ...changes,
  }
  return { doors, steps }
}

/** Moves the clock from timer to timer until `work` has ended; returns how long that took, in ms. */
async function pass(clock: SteppedClock, work: Promise<void>): Promise<number> {
  const start = clock.now()
  let over = false
  void work.finally(() => {
    over = true
  })
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    if (over) return clock.now() - start
    const due = clock.nextDue()
    if (!Number.isFinite(due)) throw new Error('Nothing would ever wake it.')
    clock.moveTo(due)
  }
}

test('F-A20: everything that stops at once is stopped at once, in its order', async () => {
  const clock = steppedClock()
  const { doors, steps } = doorsOn(clock)
  expect(await pass(clock, closeDaemon(doors, { clock, logger: silentLogger }))).toBe(0)
  const names = [
    'sinks',
    'streams',
    'schedules',
    'turns',
    'tool servers',
    'delivery',
    'channels',
    'api',
    'hooks',
    'store',
  ]
  expect(steps).toEqual(names.map((name) => [name, 0]))
})

test('F-A20: a turn that hears nothing and an adapter that does not stop together end within the 25 s', async () => {
  const clock = steppedClock()
  const running = createRunningTurns(clock, silentLogger)
  void running.begin({ session: { id: 's' } } as unknown as StartedTurn, () => never)
  const hub = new ChannelHub({ clock, logger: silentLogger })
  const adapter = new FakeChannel(() => clock)
  adapter.stop = () => never
  const create = async () => adapter
  const account = { channel: 'telegram', account: toAccountId('default'), create, sink: () => ({}) as never } as const
  hub.start([account], () => {})
  await hub.settled()
  const log = new AwaitedLog()
  const { doors, steps } = doorsOn(clock, { hub })
  const took = await pass(clock, closeDaemon({ ...doors, running }, { clock, logger: log }))
  expect(took).toBeLessThanOrEqual(STOP_WITHIN_MS)
  expect(steps).toEqual([
    ['sinks', 0],
    ['streams', 0],
    ['schedules', 0],
    ['tool servers', 18_000],
    ['delivery', 18_000],
    ['api', 24_000],
    ['hooks', 24_000],
    ['store', 24_000],
  ])
  expect((await log.line('A part of the daemon did not stop in its time and is left behind')).fields).toMatchObject({
    part: 'channels',
  })
})

test('F-E05: a clock that is set while the daemon stops takes no time from anybody, and gives none', async () => {
  for (const step of [-3_600_000, 3_600_000]) {
    const clock = steppedClock()
    const given: number[] = []
    const { doors } = doorsOn(clock, { schedules: { stop: async () => clock.setBy(step) } })
    const delivery = { stop: async (ms: number) => void given.push(ms) }
    await pass(clock, closeDaemon({ ...doors, delivery }, { clock, logger: silentLogger }))
    expect(given).toEqual([22_000])
  }
})

test('F-A20: whatever hangs, the file is closed within the 25 s, and what ends early leaves its time to the others', async () => {
  const clock = steppedClock()
  const given: number[] = []
  const delivery = { stop: async (ms: number) => void given.push(ms) }
  const { doors, steps } = doorsOn(clock, { schedules: { stop: () => never }, api: { close: () => never } })
  const took = await pass(clock, closeDaemon({ ...doors, delivery }, { clock, logger: silentLogger }))
  expect(took).toBe(STOP_WITHIN_MS)
  expect(given).toEqual([4_000])
  expect(steps.at(-1)).toEqual(['store', STOP_WITHIN_MS])
})

test('F-A20: a part that breaks keeps none of the others from being stopped', async () => {
  const clock = steppedClock()
  const { doors, steps } = doorsOn(clock, { hub: { stop: () => Promise.reject(new Error('broken')) } })
  await closeDaemon(doors, { clock, logger: silentLogger })
  expect(steps.map(([name]) => name)).toEqual([
    'sinks',
    'streams',
    'schedules',
    'turns',
    'tool servers',
    'delivery',
    'api',
    'hooks',
    'store',
  ])
})

test('F-F03: after the disk has failed nothing is closed in order, and whoever stops it is told why', async () => {
  const clock = steppedClock()
  const { doors, steps } = doorsOn(clock)
  const disk = new AbortController()
  const { stop, stopped } = createStop(doors, { clock, logger: silentLogger, broken: disk.signal })
  disk.abort(new Error('the disk failed'))
  await expect(stopped).rejects.toThrow('the disk failed')
  await expect(stop()).rejects.toThrow('the disk failed')
  expect(steps).toEqual([])
})

test('F-F03: a stop under way ends when the disk fails', async () => {
  const clock = steppedClock()
  const { doors } = doorsOn(clock, { schedules: { stop: () => never } })
  const disk = new AbortController()
  const { stop } = createStop(doors, { clock, logger: silentLogger, broken: disk.signal })
  const stopping = stop()
  disk.abort(new Error('the disk failed'))
  await expect(stopping).rejects.toThrow('the disk failed')
})

test('R8: a hook that does not end in its time is ended, so that no program of it is left', async () => {
  const clock = steppedClock()
  const ended: string[] = []
  const hooks = { settled: () => never, end: () => void ended.push('hooks') }
  const { doors } = doorsOn(clock, { hooks, store: { close: async () => void ended.push('store') } })
  expect(await pass(clock, closeDaemon(doors, { clock, logger: silentLogger }))).toBe(STOP_WITHIN_MS)
  expect(ended).toEqual(['hooks', 'store'])
})
