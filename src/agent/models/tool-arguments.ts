import { DOORS } from '../../core/doors.ts'
import { isDeeper } from '../../core/opaque.ts'
import { readJson } from '../../core/read-json.ts'

/** Text can be read more deeply nested than it can be written again; no tool needs as many levels. */
const DEEPEST = 100
/** The calls of one step: more than any model writes. */
export const MOST_CALLS = 256

/**
 * Arguments that are not JSON, nested too deeply or too many stay text: the tool loop answers them with an error the
 * model can read.
 */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {}
  try {
    return readJson(json, { ...DOORS.modelAnswer, depth: DEEPEST })
  } catch {
    return json
  }
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
