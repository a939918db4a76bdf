/**
 * Returns true for a session shown under one of the keys, or under one with a topic or further dimensions, such as the
 * sender; no keys are everywhere.
 */
export function isIn(keys: readonly string[] | undefined, place: string): boolean {
  return keys?.some((key) => place === key || [`${key}/`, `${key}|`].some((begin) => place.startsWith(begin))) ?? true
}

/** Returns true if one of the patterns names the tool: its name, or the beginning of it and `*`. */
export function namesTool(patterns: readonly string[], tool: string): boolean {
  return patterns.some((one) => (one.endsWith('*') ? tool.startsWith(one.slice(0, -1)) : one === tool))
}
