import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { steadyTicks } from '../../src/schedule/ticks.ts'
import { movedClock } from '../agent/moved-clock.ts'

it('ticks by itself until it is stopped', async () => {
  let stop = (): void => {}
  await new Promise<void>((resolve) => {
    stop = steadyTicks(systemClock)(resolve)
  })
  stop()
})

it.each([0, -86_400_000, 400 * 86_400_000])('ticks once a second where the wall clock jumps by %i ms', (jump) => {
  const clock = movedClock()
  let ticks = 0
  const stop = steadyTicks(clock)(() => {
    ticks++
  })
  clock.setBy(jump)
  for (let second = 1; second <= 5; second++) {
    clock.advance(1_000)
    expect(ticks).toBe(second)
  }
  stop()
  expect(clock.pending()).toBe(0)
})
