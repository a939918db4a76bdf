/**
 * Values that are all there already, for a port that waits for each. A generator would cost several promises a value and
 * more at its end.
 */
export function atOnce<T>(...values: readonly T[]): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const each = values.values()
      return { next: () => Promise.resolve(each.next()) }
    },
  }
}
