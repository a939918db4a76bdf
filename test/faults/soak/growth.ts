/** Memory of the daemon at a time, in ms from the beginning, and how long the process lives by then. */
export interface Sample {
  readonly at: number
  readonly ageMs: number
  readonly rssMb: number
}

/** A process warms up: what it takes in this time says nothing. */
const WARM_AFTER_MS = 15_000
const HOUR = 3_600_000

/**
 * Returns by how much memory grows, MB an hour: the slope of the line through all samples of warm processes. Undefined where
 * there are too few. Over minutes it says little; it is meant for a soak of hours.
 */
export function slopeOf(samples: readonly Sample[]): number | undefined {
  const warm = samples.filter(({ ageMs }) => ageMs >= WARM_AFTER_MS)
  if (warm.length < 10) return undefined
  const meanAt = mean(warm.map(({ at }) => at))
  const meanRss = mean(warm.map(({ rssMb }) => rssMb))
  const spread = sum(warm.map(({ at }) => (at - meanAt) ** 2))
  if (spread === 0) return undefined
  return (sum(warm.map(({ at, rssMb }) => (at - meanAt) * (rssMb - meanRss))) / spread) * HOUR
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}
