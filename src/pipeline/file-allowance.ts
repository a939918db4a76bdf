import type { Clock } from '../core/clock.ts'

/** Bounds what is fetched of the files that one person sends within a day. */
export interface FileAllowance {
  mayFetch(person: string): boolean
  fetched(person: string, bytes: number): void
}

const DAY_MS = 24 * 3_600_000
/** The most people that are counted; whoever sent files longest ago is forgotten. */
const MOST_PEOPLE = 10_000

interface Day {
  /** The monotonic time of its first file. */
  readonly began: number
  bytes: number
}

/** Counts in memory: a start of the daemon, which nobody in a chat can cause, begins anew. */
export function createFileAllowance(clock: Pick<Clock, 'elapsed'>, perDay: number): FileAllowance {
  const days = new Map<string, Day>()
  const dayOf = (person: string): Day => {
    const known = days.get(person)
    return known !== undefined && clock.elapsed() - known.began < DAY_MS ? known : { began: clock.elapsed(), bytes: 0 }
  }
  return {
    mayFetch: (person) => dayOf(person).bytes < perDay,
    fetched(person, bytes) {
      const day = dayOf(person)
      day.bytes += bytes
      days.delete(person)
      days.set(person, day)
      const [oldest] = days.keys()
      if (days.size > MOST_PEOPLE && oldest !== undefined) days.delete(oldest)
    },
  }
}
