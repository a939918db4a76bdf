import type { Clock } from '../core/clock.ts'

/** One timer for everything that recurs while turns run; there is none while nothing does. */
export interface Ticker {
  /** Calls `tick` at about every `everyMs` until the task is removed. */
  add(task: Ticking): void
  remove(task: Ticking): void
  stop(): void
}

export interface Ticking {
  tick(): void
}

export function createTicker(clock: Clock, everyMs: number): Ticker {
  const tasks = new Set<Ticking>()
  let cancel: (() => void) | undefined

  const arm = (): void => {
    cancel = clock.after(everyMs, () => {
      cancel = undefined
      for (const task of [...tasks]) task.tick()
      if (tasks.size > 0) arm()
    })
  }
  return {
    add(task) {
      tasks.add(task)
      if (!cancel) arm()
    },
    remove: (task) => tasks.delete(task),
    stop() {
      tasks.clear()
      cancel?.()
    },
  }
}
