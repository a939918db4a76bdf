type Queued = () => Promise<unknown>

/**
 * Returns what runs one work at a time, by turns of those who have it done: whoever brings many waits with the second
 * until each of the others has had one.
 */
export function oneAtATime(): <Done>(whose: string, work: () => Promise<Done>) => Promise<Done> {
  const waiting = new Map<string, readonly Queued[]>()
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const [whose, [next, ...others]] = first
      waiting.set(whose, others)
      await next?.()
      // Behind a turn its holder is the last in line, with all that has come meanwhile.
      const left = waiting.get(whose) ?? []
      waiting.delete(whose)
      if (left.length > 0) waiting.set(whose, left)
    }
    running = false
  }

  return (whose, work) =>
    new Promise((resolve, reject) => {
      const queued: Queued = () => work().then(resolve, reject)
      waiting.set(whose, [...(waiting.get(whose) ?? []), queued])
      void run()
    })
}
