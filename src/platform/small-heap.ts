import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** The most bytes that the heap's young generation takes: as many as on Node 20 by itself; Node 24 lets it grow to 128 MB. */
const MOST_YOUNG = 32 * 1024 * 1024

/** By how much the old generation grows beyond what was alive in it before it is collected again, in percent. */
const OLD_GROWS_PERCENT = 150

/**
 * Bounds the room that the engine keeps beside what is alive, from now on (decision 0015). Both flags are read by the
 * engine at each collection, so they hold however the process was started; those that bound the heap by themselves are
 * read at its start alone.
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
