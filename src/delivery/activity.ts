import { deferred } from '../core/deferred.ts'

/** Counts work under way, so that a drain or a test can wait for its end. */
export interface Activity {
  /** Begins a piece of work, which ends with `end`. */
  begin(): void
  end(): void
  /** Counts the promise as work until it settles; handling its failure is the caller's part. */
  track(work: Promise<unknown>): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
  /** Wakes whoever waits for the next step, in the middle of a piece of work. */
  step(): void
  /** Resolves at the next step, which the end of a piece of work is too. */
  nextStep(): Promise<void>
}

export function createActivity(): Activity {
  let count = 0
  let next = deferred()
  let waiting: (() => void)[] = []
  const begin = (): void => {
    count++
  }
  const step = (): void => {
    next.resolve()
    next = deferred()
  }
  const end = (): void => {
    count--
    step()
    if (count > 0 || waiting.length === 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }
  return {
    begin,
    end,
    step,
    nextStep: () => next.promise,
    track(work) {
      begin()
      work.then(end, end)
    },
    async idle() {
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
