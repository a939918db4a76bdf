/**
 * Returns true for a place that has one of the keys among its names, or one with a topic or further dimensions, such as
 * the sender; no keys are everywhere.
 */
export function isIn(keys: readonly string[] | undefined, names: readonly string[]): boolean {
  return keys?.some((key) => names.some((name) => isUnder(key, name))) ?? true
}

function isUnder(key: string, name: string): boolean {
  return name === key || name.startsWith(`${key}/`) || name.startsWith(`${key}|`)
}

/** Returns true if one of the patterns names the tool: its name, or the beginning of it and `*`. */
export function namesTool(patterns: readonly string[], tool: string): boolean {
  return patterns.some((one) => (one.endsWith('*') ? tool.startsWith(one.slice(0, -1)) : one === tool))
}
