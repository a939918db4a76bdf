import type { Clock } from '../core/clock.ts'

/** One timer for everything that recurs while turns run; none while nothing does. */
export interface Ticker {
  /** Calls `task` about every `everyMs` until the returned function is called. */
  add(task: () => void): () => void
  stop(): void
}

export function createTicker(clock: Clock, everyMs: number): Ticker {
  const tasks = new Set<() => void>()
  let cancel: (() => void) | undefined

  const arm = (): void => {
    cancel = clock.after(everyMs, () => {
      cancel = undefined
      for (const task of [...tasks]) task()
      if (tasks.size > 0) arm()
    })
  }
  return {
    add(task) {
      tasks.add(task)
      if (!cancel) arm()
      return () => tasks.delete(task)
    },
    stop() {
      tasks.clear()
      cancel?.()
    },
  }
}
