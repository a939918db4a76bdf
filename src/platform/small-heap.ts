import { PerformanceObserver, performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The most bytes of the heap's young generation, the default of Node 20; Node 24 lets it grow to 128 MB. */
const MOST_YOUNG = 32 * 1024 * 1024

/** The percentage by which the old generation grows beyond its live part before it is collected again. */
const OLD_GROWS_PERCENT = 150

/** Milliseconds between two looks at whether the process has nothing to do. */
const LOOK_MS = 10_000

/** The share of the time between two looks that polls, pings and timers may take. */
const IDLE_SHARE = 0.02

/** By how much the heap has to have grown since it was collected last, for another time to give back something. */
const WORTH = 1.25

/**
 * Bounds the room that the engine keeps besides live objects, from now on (decision 0015). The engine reads both flags
 * at each collection, so they apply however the process was started; those that bound the heap directly are read only
 * at its start.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${OLD_GROWS_PERCENT}`)
  let grows = true
  // The young generation doubles after a collection that much survived.
  new PerformanceObserver(() => {
    const mayGrow = youngBytes() < MOST_YOUNG
    if (mayGrow === grows) return
    grows = mayGrow
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  }).observe({ entryTypes: ['gc'] })
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}

interface IdleLook {
  /** The share of the time since the last look in which the event loop was busy, 0 to 1. */
  readonly busy: number
  /** Bytes of the heap now, and after it was collected last; 0 before the first time. */
  readonly heap: number
  readonly collected: number
}

/** Returns true if nothing happens and the heap has grown enough for a collection to give back something. */
export function isWorthCollecting({ busy, heap, collected }: IdleLook): boolean {
  return busy <= IDLE_SHARE && heap > collected * WORTH
}

/**
 * Collects once the process has nothing to do, from now on: the room that the start, many messages or a first call
 * needed is given back. By itself the engine does so only if it happens to collect at such a moment (decision 0015).
 */
export function collectWhenIdle(lookMs = LOOK_MS): void {
  const collect = collector()
  let collected = 0
  let before = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization: busy } = performance.eventLoopUtilization(now, before)
    before = now
    if (!isWorthCollecting({ busy, heap: heapBytes(), collected })) return
    collect()
    collected = heapBytes()
  }, lookMs).unref()
}

function heapBytes(): number {
  return getHeapStatistics().total_heap_size
}

/** Returns the engine's own function for it, which a new context has while the flag is set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return collect
}
