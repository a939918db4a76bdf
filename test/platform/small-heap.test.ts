import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { collectWhenIdle, isWorthCollecting, keepHeapSmall } from '../../src/platform/small-heap.ts'

const MB = 1024 * 1024

interface Collection extends PerformanceEntry {
  readonly detail: { readonly kind: number; readonly flags: number }
}

/** Nobody but a caller of the engine's own function forces a collection. */
function isForced({ detail: { kind, flags } }: Collection): boolean {
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR && (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0
}

const youngMegabytes = (): number =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0) / MB

/** As a flood of messages does: much is made, and part of it lives for a while. */
async function flood(): Promise<number> {
  let kept: unknown[] = []
  let most = 0
  for (let round = 0; round < 1_500; round++) {
    for (let nth = 0; nth < 1_000; nth++) kept.push({ nth, text: `message ${nth}`, parts: [nth] })
    if (kept.length > 60_000) kept = []
    await setImmediate()
    most = Math.max(most, youngMegabytes())
  }
  return most
}

// One test, since the engine's flags are those of the process.
it('the young generation grows no further than 32 MB in a flood, as it does on Node 24', async () => {
  keepHeapSmall()
  expect(await flood()).toBeLessThanOrEqual(32)
})

it('a heap that has grown is collected where nothing happens, once', () => {
  const idle = { busy: 0.001, heap: 30 * MB, collected: 20 * MB }
  expect(isWorthCollecting({ ...idle, collected: 0 })).toBe(true)
  expect(isWorthCollecting(idle)).toBe(true)
  expect(isWorthCollecting({ ...idle, busy: 0.1 })).toBe(false)
  expect(isWorthCollecting({ ...idle, collected: 29 * MB })).toBe(false)
})

it('what is collected then is the heap of this process, at a word of its own', async () => {
  const forced = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      if (list.getEntries().some((entry) => isForced(entry as Collection))) resolve('collected')
    }).observe({ entryTypes: ['gc'] })
  })
  collectWhenIdle(20)
  await expect(forced).resolves.toBe('collected')
})
