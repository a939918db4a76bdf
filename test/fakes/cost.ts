/** Returns the processor time of some work in microseconds: the least of three runs. */
export async function cost(work: () => unknown): Promise<number> {
  const runs: number[] = []
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    runs.push(user + system)
  }
  return Math.min(...runs)
}
