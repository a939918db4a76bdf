/** Counts work under way, so that a drain or a test can wait for its end. */
export interface Activity {
  /** Begins a piece of work, which ends with `end`. */
  begin(): void
  end(): void
  /** Counts the promise as work until it settles; handling its failure is the caller's part. */
  track(work: Promise<unknown>): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

export function createActivity(): Activity {
  let count = 0
  let waiting: (() => void)[] = []
  const begin = (): void => {
    count++
  }
  const end = (): void => {
    count--
    if (count > 0 || waiting.length === 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }
  return {
    begin,
    end,
    track(work) {
      begin()
      work.then(end, end)
    },
    async idle() {
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
