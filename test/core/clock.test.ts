import { describe, expect, it } from 'vitest'
import { askedWait, type Clock, sleep, systemClock, within } from '../../src/core/clock.ts'

/** Timers that fire when told to. */
function handClock(): Clock & { readonly pending: Set<() => void> } {
  const pending = new Set<() => void>()
  return {
    pending,
    now: () => 0,
    elapsed: () => 0,
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

describe('within', () => {
  it('is true for what ends in time, and cancels its timer', async () => {
    const clock = handClock()
    expect(await within(clock, 5, Promise.resolve())).toBe(true)
    expect(clock.pending.size).toBe(0)
  })

  it('is false for what does not, and takes no harm from its end', async () => {
    const clock = handClock()
    let fail = (_: Error): void => {}
    const late = within(clock, 5, new Promise((_, reject) => (fail = reject)))
    fire(clock)
    expect(await late).toBe(false)
    fail(new Error('late'))
  })

  it('rejects as what it waits for does', async () => {
    await expect(within(handClock(), 5, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })
})

describe('a wait that somebody else asks for', () => {
  it.each([
    [35_000, 35_000],
    [2000.15, 2001],
    [-5, 0],
    [Number.NaN, 5_000],
    [3_000_000_000, 86_400_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
  ])('of %s ms is one of %s', (asked, wait) => {
    expect(askedWait(asked)).toBe(wait)
  })
})

it('a timer for longer than the system counts does not end at once', async () => {
  let over = false
  const cancel = systemClock.after(2 ** 31, () => {
    over = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  cancel()
  expect(over).toBe(false)
})
