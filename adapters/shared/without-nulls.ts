/** No payload that is read is nested as deep: what lies deeper is looked at by nobody. */
const DEEPEST = 16

/**
 * Returns parsed JSON without the fields that are null, which say no more than fields that are not there: what has none
 * comes back as it is. Entries of lists keep their places.
 */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutNulls(item, depth + 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const fields = Object.entries(value)
  const read = fields.map(([name, inner]) => [name, withoutNulls(inner, depth + 1)] as const)
  const changed = read.some(([, inner], index) => inner === null || inner !== fields[index]?.[1])
  return changed ? Object.fromEntries(read.filter(([, inner]) => inner !== null)) : value
}
