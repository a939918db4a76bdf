/** Arguments that are not JSON stay text: the tool loop answers them with an error the model can read. */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {}
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Returns arguments as the APIs take them back: whatever is no object was refused and is sent as an empty one. */
export function argumentsObject(args: unknown): Record<string, unknown> {
  const isRecord = typeof args === 'object' && args !== null && !Array.isArray(args)
  return isRecord ? { ...args } : {}
}
