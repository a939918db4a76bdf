import { isDeeper } from '../../core/opaque.ts'

/** Text can be read more deeply nested than it can be written again; no tool needs as many levels. */
const DEEPEST = 100
/** The calls of one step, and its blocks: more than any model writes. */
export const MOST_CALLS = 256

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

/** Returns how deeply a text of JSON is nested, in one pass: a text that breaks off in a string is none of JSON. */
function depthOf(json: string): number {
  let [depth, deepest, isString] = [0, 0, false]
  for (let at = 0; at < json.length; at++) {
    const mark = json.charAt(at)
    if (isString && mark === '\\') at++
    else if (mark === '"') isString = !isString
    else if (isString) continue
    else if (mark === '[' || mark === '{') deepest = Math.max(deepest, ++depth)
    else if (mark === ']' || mark === '}') depth--
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

/** Returns arguments that came as a value as the text that `parseArguments` reads; what is too deep stays no JSON. */
export function writtenArguments(args: unknown): string {
  return isDeeper(args, DEEPEST) ? '(nested too deeply)' : JSON.stringify(args)
}
