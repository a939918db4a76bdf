import { describe, expect, it } from 'vitest'
import { type Clock, sleep, systemClock } from '../../src/core/clock.ts'

/** Timers that fire when told to. */
function handClock(): Clock & { readonly pending: Set<() => void> } {
  const pending = new Set<() => void>()
  return {
    pending,
    now: () => 0,
    after(_ms, callback) {
      pending.add(callback)
      return () => pending.delete(callback)
    },
  }
}

function fire(clock: { readonly pending: Set<() => void> }): void {
  for (const callback of [...clock.pending]) callback()
}

describe('sleep', () => {
  it('resolves when its timer fires and leaves no listener behind', async () => {
    const clock = handClock()
    const controller = new AbortController()
    const asleep = sleep(clock, 5, controller.signal)
    fire(clock)
    await asleep
    expect(clock.pending.size).toBe(0)
    controller.abort()
    expect(clock.pending.size).toBe(0)
  })

  it('resolves at once when the signal aborts, and cancels its timer', async () => {
    const clock = handClock()
    const controller = new AbortController()
    const asleep = sleep(clock, 5, controller.signal)
    expect(clock.pending.size).toBe(1)
    controller.abort()
    await asleep
    expect(clock.pending.size).toBe(0)
  })

  it('starts no timer when the signal is aborted already', async () => {
    const clock = handClock()
    await sleep(clock, 5, AbortSignal.abort())
    expect(clock.pending.size).toBe(0)
  })

  it('needs no signal', async () => {
    const clock = handClock()
    const asleep = sleep(clock, 5)
    fire(clock)
    await asleep
    expect(clock.pending.size).toBe(0)
  })
})

describe('system clock', () => {
  it('tells the time of the machine', () => {
    const before = Date.now()
    const now = systemClock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('calls back once, and not after it was cancelled', async () => {
    const calls: string[] = []
    const cancel = systemClock.after(0, () => calls.push('cancelled'))
    cancel()
    await new Promise<void>((resolve) => {
      systemClock.after(1, () => {
        calls.push('fired')
        resolve()
      })
    })
    expect(calls).toEqual(['fired'])
  })
})
