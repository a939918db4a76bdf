import type { OperatorService } from '../core/operator.ts'
import * as answers from './answers.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface AskOptions {
  /** The method, GET if absent. */
  readonly method?: Method
  readonly body?: object
  /** The extra time the daemon may take. */
  readonly waitMs?: number
}

/** Asks the daemon; resolves with its answer if that is of the expected kind, rejects with its error code. */
export type Ask = <Value>(answer: answers.Answer<Value>, path: string, options?: AskOptions) => Promise<Value>

/** The daemon's default wait. */
const POST_WAIT_SECONDS = 120

/** Returns the sessions of a daemon behind its socket. */
export function remoteSessions(ask: Ask): OperatorService['sessions'] {
  const at = (name: string): string => `/v1/sessions/${encodeURIComponent(name)}`
  return {
    list({ limit, offset, inactive }) {
      const query = new URLSearchParams({ limit: String(limit), offset: String(offset), inactive: String(inactive) })
      return ask(answers.sessions, `/v1/sessions?${query}`)
    },
    show: (name) => ask(answers.session, at(name)),
    history(name, { limit, before }) {
      const end = before === undefined ? {} : { before: String(before) }
      const query = new URLSearchParams({ limit: String(limit), ...end })
      return ask(answers.history, `${at(name)}/history?${query}`)
    },
    patch: (name, changes) => ask(answers.session, at(name), { method: 'PATCH', body: { ...(changes as object) } }),
    setHistory: (name, boundary) =>
      ask(answers.session, `${at(name)}/history`, { method: 'POST', body: { ...(boundary as object) } }),
    rename: (name, title) => ask(answers.session, `${at(name)}/name`, { method: 'POST', body: { title } }),
    post(name, request) {
      const waitMs = (request.waitSeconds ?? POST_WAIT_SECONDS) * 1_000
      return ask(answers.posted, `${at(name)}/messages`, { method: 'POST', body: request, waitMs })
    },
    async delete(name) {
      await ask(answers.done, at(name), { method: 'DELETE' })
    },
  }
}
