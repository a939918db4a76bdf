import { boundedAnswer } from './bounded-answer.ts'
import { withWholeCharacters } from './whole-characters.ts'

/** Asks a model as `fetch` does, for a client library: no half of a character goes out, and no flood comes in. */
export async function modelFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const whole = typeof init.body === 'string' ? { ...init, body: withWholeCharacters(init.body) } : init
  return boundedAnswer(await fetch(url, whole))
}
