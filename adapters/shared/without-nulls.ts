/** No payload that is read is nested as deep: what lies deeper is looked at by nobody. */
const DEEPEST = 16

/**
 * Returns parsed JSON without the fields that are null, which say no more than fields that are not there: what has none
 * comes back as it is. Entries of lists keep their places.
 */
export function withoutNulls(value: unknown): unknown {
  // Nearly every payload: nothing is built anew only to find that out.
  return hasNull(value, 0) ? cleaned(value, 0) : value
}

function hasNull(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false
  if (Array.isArray(value)) return value.some((item) => hasNull(item, depth + 1))
  const fields = value as Readonly<Record<string, unknown>>
  for (const name in fields) if (fields[name] === null || hasNull(fields[name], depth + 1)) return true
  return false
}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1))
  const fields = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(fields.map(([name, inner]) => [name, cleaned(inner, depth + 1)]))
}
