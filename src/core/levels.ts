/**
 * Returns true if a JSON value has more levels than these. Whatever reads or writes a value goes down its levels by
 * calls, of which there are only so many; this does not.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
