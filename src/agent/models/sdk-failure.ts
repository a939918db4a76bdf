import type { RetryAdvice } from './model-error.ts'

/** The words by which any provider says that a conversation does not fit. */
export const TOO_LONG =
  /prompt is too long|context (length|window|limit|size)|too many (input )?tokens|maximum context/i

/** Returns the advice for an answer with an error: what is transient may be tried again, when the provider says. */
export function retryAdvice(status: number, headers: Headers | undefined): RetryAdvice {
  const transient = status === 408 || status === 409 || status === 429 || status >= 500
  if (!transient || headers?.get('x-should-retry') === 'false') return { retry: false }
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '')
  const seconds = Number.parseFloat(headers?.get('retry-after') ?? '')
  const afterMs = Number.isFinite(ms) ? ms : seconds * 1000
  return Number.isFinite(afterMs) ? { retry: true, afterMs } : { retry: true }
}

/** Returns the texts of an error and its causes: `fetch failed: connect ECONNREFUSED …`. */
export function wordsOf(thrown: unknown): string {
  const texts: string[] = []
  for (let error = thrown; error instanceof Error && texts.length < 4; error = error.cause) texts.push(error.message)
  return texts.join(': ') || String(thrown)
}

export function redacted(words: string, apiKey: string): string {
  return apiKey === '' ? words : words.replaceAll(apiKey, '[redacted]')
}
