import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { cronTicks } from '../../src/schedule/ticks.ts'
import { movedClock } from '../agent/moved-clock.ts'

it('ticks by itself until it is stopped', async () => {
  let stop = (): void => {}
  await new Promise<void>((resolve) => {
    stop = cronTicks(systemClock)(resolve)
  })
  stop()
})

it('goes on when the wall clock stands still or goes back, and not after it is stopped', () => {
  const clock = movedClock()
  let ticks = 0
  const stop = cronTicks(clock)(() => {
    ticks++
  })
  clock.advance(5_000)
  clock.advance(5_000)
  expect(ticks).toBe(2)
  stop()
  expect(clock.pending()).toBe(0)
})
