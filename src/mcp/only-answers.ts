import { setImmediate as nextTurn } from 'node:timers/promises'

/** Characters of a stream between two turns of everything else in this process. */
const SLICE = 64_000
const BETWEEN = /\r\n\r\n|\n\n|\r\r/g

/**
 * Returns a `fetch` whose answers hold nothing but answers: notifications, which nobody listens to, are left out before
 * the library checks each one.
 */
export function onlyAnswers(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || response.body === null) return response
    const { status, headers } = response
    if (type.includes('text/event-stream'))
      return new Response(await answersOf(await response.text()), { status, headers })
    if (!type.includes('json')) return response
    const found = parsed(await response.text())
    const kept = Array.isArray(found) ? found.filter(isAnswer) : found
    return new Response(JSON.stringify(kept) ?? '', { status, headers })
  }
}

async function answersOf(stream: string): Promise<string> {
  const kept: string[] = []
  let from = 0
  let turn = SLICE
  for (const match of stream.matchAll(BETWEEN)) {
    const event = stream.slice(from, match.index)
    from = match.index + match[0].length
    if (isAnswer(parsed(dataOf(event)))) kept.push(event)
    if (from < turn) continue
    turn = from + SLICE
    await nextTurn()
  }
  const last = stream.slice(from)
  if (isAnswer(parsed(dataOf(last)))) kept.push(last)
  return kept.map((event) => `${event}\n\n`).join('')
}

function dataOf(event: string): string {
  return [...event.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data).join('\n')
}

function isAnswer(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'id' in message && !('method' in message)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
