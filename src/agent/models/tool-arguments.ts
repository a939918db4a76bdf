/** Text can be read more deeply nested than it can be written again; no tool needs as many levels. */
const DEEPEST = 100

/**
 * Arguments that are not JSON, or nested too deeply, stay text: the tool loop answers them with an error the model can
 * read.
 */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {}
  if (depthOf(json) > DEEPEST) return json
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Returns how deeply a text of JSON is nested. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0]
  for (const [mark] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (mark === '[' || mark === '{') deepest = Math.max(deepest, ++depth)
    if (mark === ']' || mark === '}') depth--
  }
  return deepest
}

/** Returns arguments as the APIs take them back: whatever is no object was refused and is sent as an empty one. */
export function argumentsObject(args: unknown): Record<string, unknown> {
  return isRecord(args) ? { ...args } : {}
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
