import type { OperatorService } from '../core/operator.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** Asks the daemon, which may take `waitMs` longer than usual; resolves with what it answered, rejects with the code it gave. */
export type Ask = (path: string, method?: Method, body?: object, waitMs?: number) => Promise<unknown>

/** The daemon's own, if none is asked for. */
const POST_WAIT_SECONDS = 120

type Sessions = OperatorService['sessions']

/** The sessions of a daemon behind its socket. */
export function remoteSessions(ask: Ask): Sessions {
  const at = (name: string): string => `/v1/sessions/${encodeURIComponent(name)}`
  return {
    list: ({ limit, offset, inactive }) => {
      const query = new URLSearchParams({ limit: String(limit), offset: String(offset), inactive: String(inactive) })
      return ask(`/v1/sessions?${query}`) as ReturnType<Sessions['list']>
    },
    show: (name) => ask(at(name)) as ReturnType<Sessions['show']>,
    history: (name, { limit, before }) => {
      const end = before === undefined ? {} : { before: String(before) }
      const query = new URLSearchParams({ limit: String(limit), ...end })
      return ask(`${at(name)}/history?${query}`) as ReturnType<Sessions['history']>
    },
    patch: (name, changes) => ask(at(name), 'PATCH', { ...(changes as object) }) as ReturnType<Sessions['patch']>,
    setHistory: (name, boundary) =>
      ask(`${at(name)}/history`, 'POST', { ...(boundary as object) }) as ReturnType<Sessions['setHistory']>,
    rename: (name, title) => ask(`${at(name)}/name`, 'POST', { title }) as ReturnType<Sessions['rename']>,
    post: (name, request) => {
      const waitMs = (request.waitSeconds ?? POST_WAIT_SECONDS) * 1_000
      return ask(`${at(name)}/messages`, 'POST', request, waitMs) as ReturnType<Sessions['post']>
    },
    async delete(name) {
      await ask(at(name), 'DELETE')
    },
  }
}
