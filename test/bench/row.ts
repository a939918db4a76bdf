export type Name = 'Parley' | 'grammY' | 'telegraf' | 'bare HTTP'

export type Values = Partial<Record<Name, number>>

/** One line of the table. `samples` holds every single measurement behind the medians in `values`. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly values: Values
  readonly goal?: Goal
  readonly samples?: Partial<Record<Name, readonly number[]>>
}

export interface Goal {
  readonly text: string
  /** Undefined where a figure it needs was not measured. */
  met(values: Values): boolean | undefined
}

export function atMost(limit: number, unit = ''): Goal {
  return {
    text: `≤ ${limit}${unit && ` ${unit}`}`,
    met: ({ Parley }) => (Parley === undefined ? undefined : Parley <= limit),
  }
}

export function atLeast(limit: number, unit = ''): Goal {
  return {
    text: `≥ ${limit}${unit && ` ${unit}`}`,
    met: ({ Parley }) => (Parley === undefined ? undefined : Parley >= limit),
  }
}

/** The row of repeated measurements: the median of each contender. */
export function medianRow(
  head: Pick<Row, 'what' | 'unit' | 'goal'>,
  samples: ReadonlyMap<Name, readonly number[]>,
): Row {
  const values = Object.fromEntries([...samples].map(([name, list]) => [name, median(list)]))
  return { ...head, values, samples: Object.fromEntries(samples) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? Number.NaN)) / 2 : upper
}

/** The value below which `share` (0 to 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Adds a value to the list under `key`. */
export function collect<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
