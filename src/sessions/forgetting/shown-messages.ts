/**
 * Yields the messages that a result shows as JSON, as they were written, behind the name of whoever said each; also
 * those in the result of an earlier call. A text that is no JSON, such as a cut one, has none.
 */
export function* shownMessages(result: string): Generator<string> {
  const left: unknown[] = [parsed(result)]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    for (const part of Object.values(value ?? {})) if (typeof part === 'object') left.push(part)
    const { role, from = role, text } = (value ?? {}) as Readonly<Record<string, unknown>>
    if (typeof role !== 'string' || typeof text !== 'string') continue
    if (role === 'toolResult') left.push(parsed(text))
    yield `${from}: ${text}`
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
