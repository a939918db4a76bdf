import { modelFetch } from './model-fetch.ts'

/** The headers that leave this machine: none that describes it, none that the SDK takes from the environment. */
const SENT = new Set(['accept', 'authorization', 'content-type', 'user-agent'])

/**
 * Wraps `fetch` for the SDK: it sends no header that is not ours, and an error in the shape of older versions of vLLM
 * (`{"object":"error","message":…}`) arrives in that of OpenAI, which the SDK knows.
 */
export async function fetchForSdk(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const ours = [...new Headers(init.headers)].filter(([name]) => SENT.has(name))
  const response = await modelFetch(url, { ...init, headers: ours })
  const { ok, status, headers } = response
  if (ok || !headers.get('content-type')?.includes('json')) return response
  const text = await response.text()
  const kept = new Headers(headers)
  kept.delete('content-length')
  kept.delete('content-encoding')
  return new Response(inOneShape(text), { status, headers: kept })
}

function inOneShape(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    return isBareError(body) ? JSON.stringify({ error: body }) : text
  } catch {
    return text
  }
}

/** Returns true for an error object that stands by itself, in an answer or in a stream. */
export function isBareError(body: unknown): body is { readonly message?: unknown; readonly code?: unknown } {
  return typeof body === 'object' && body !== null && 'object' in body && body.object === 'error'
}
