import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** The most bytes of the heap's young generation, the default of Node 20; Node 24 lets it grow to 128 MB. */
const MOST_YOUNG = 32 * 1024 * 1024

/** The percentage by which the old generation grows beyond its live part before it is collected again. */
const OLD_GROWS_PERCENT = 150

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
