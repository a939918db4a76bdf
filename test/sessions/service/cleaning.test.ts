import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { ageOut, startCleaning } from '../../../src/sessions/service/age-out.ts'
import type { Store } from '../../../src/store/store.ts'
import { noMedia } from '../../fakes/media.ts'

const [MINUTE, HOUR, LOOK, PAUSE] = [60_000, 3_600_000, 12_000, 50]

interface HeldClock extends Clock {
  /** The durations of the timers that are set. */
  readonly waits: readonly number[]
  /** Fires the timer of that duration once it is set. */
  fire(ms: number): Promise<void>
}

function heldClock(): HeldClock {
  const timers: { readonly ms: number; readonly run: () => void }[] = []
  let told = deferred<void>()
  return {
    get waits() {
      return timers.map(({ ms }) => ms)
    },
    now: () => 0,
    elapsed: () => 0,
    after(ms, run) {
      timers.push({ ms, run })
      told.resolve()
      told = deferred<void>()
      return () => {}
    },
    async fire(ms) {
      for (;;) {
        const at = timers.findIndex((timer) => timer.ms === ms)
        const [timer] = at < 0 ? [] : timers.splice(at, 1)
        if (timer) return timer.run()
        await told.promise
      }
    },
  }
}

/** A store in which the first so many transactions find something old. */
function rig({ old = 0, stopAfter = Infinity }: { old?: number; stopAfter?: number } = {}) {
  const clock = heldClock()
  const done = { writes: 0, shrinks: 0, looks: 0 }
  const store = {
    read: { sessions: { deleted: async () => [] } },
    write: async () => (++done.writes <= old ? 1 : 0),
    async shrink() {
      done.shrinks++
      return 0
    },
    async emptyLog() {
      done.looks++
    },
  } as unknown as Store
  const stopping = () => done.writes >= stopAfter
  return {
    clock,
    done,
    deps: {
      store,
      clock,
      ageingTime: clock.now,
      logger: silentLogger,
      keepDays: 30,
      stopping,
      sweepMedia: noMedia.sweep,
      retain: async () => {},
      again: [],
    },
  }
}

describe('cleaning', () => {
  it('begins a minute after the start, and again an hour after each round', async () => {
    const { clock, done, deps } = rig()
    startCleaning(deps)
    await clock.fire(MINUTE)
    await clock.fire(HOUR)
    expect(done.shrinks).toBe(1)
    await clock.fire(HOUR)
    expect(done.shrinks).toBe(2)
  })

  it('tries again each time what has failed before, whatever hinders the rest', async () => {
    const { clock, deps } = rig()
    const tried: string[] = []
    const again = [async () => void tried.push('calls'), async () => void tried.push('forgettings')]
    startCleaning({ ...deps, again, retain: () => Promise.reject(new Error('the disk is full')) })
    await clock.fire(MINUTE)
    await clock.fire(HOUR)
    expect(tried).toEqual(['calls', 'forgettings'])
    await clock.fire(HOUR)
    expect(tried).toHaveLength(4)
  })

  it('looks at the log of the store every twelve seconds', async () => {
    const { clock, done, deps } = rig()
    startCleaning(deps)
    await clock.fire(LOOK)
    await clock.fire(LOOK)
    expect(done.looks).toBe(2)
  })

  it('begins nothing further once the daemon is being stopped', async () => {
    const { clock, done, deps } = rig({ stopAfter: 0 })
    startCleaning(deps)
    await clock.fire(MINUTE)
    await clock.fire(LOOK)
    await setImmediate()
    expect(clock.waits).toEqual([])
    expect(done).toEqual({ writes: 0, shrinks: 0, looks: 0 })
  })

  it('ends between two transactions when the daemon is being stopped', async () => {
    const { clock, done, deps } = rig({ old: 5, stopAfter: 2 })
    const round = ageOut(deps)
    await clock.fire(PAUSE)
    await clock.fire(PAUSE)
    await round
    expect(done).toEqual({ writes: 2, shrinks: 0, looks: 0 })
  })

  it('leaves the store to others for a moment after each transaction that found something', async () => {
    const { clock, done, deps } = rig({ old: 1 })
    const round = ageOut(deps)
    await setImmediate()
    expect([done.writes, clock.waits]).toEqual([1, [PAUSE]])
    await clock.fire(PAUSE)
    await round
  })
})
