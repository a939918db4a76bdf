import type {
  HistoryPage,
  PostAnswer,
  PostRequest,
  SessionDetail,
  SessionHistory,
  SessionList,
  SessionListQuery,
  StartRequest,
} from '../core/operate-sessions.ts'
import type { SettingName, SettingValue } from '../core/session-settings.ts'
import { at, type Call } from './call.ts'

/** Settings of a session by name; null inherits again. */
type Changes = Readonly<Partial<Record<SettingName, SettingValue | null>>>

/** The daemon's own wait for an answer. */
const WAIT_SECONDS = 120

/** Returns the operations on sessions. A session is named by its id, its key or an alias. */
export function sessionOperations(call: Call) {
  return {
    session: {
      /** Newest activity first; `limit` 1 to 200. */
      list: (query: Partial<SessionListQuery> = {}) =>
        call<SessionList>('session.list', { method: 'GET', path: '/v1/sessions', query: { ...query } }),
      start: (request: StartRequest = {}) =>
        call<SessionDetail>('session.start', { method: 'POST', path: '/v1/sessions', body: request }),
      load: async (name: string) =>
        call<SessionDetail>('session.load', { method: 'GET', path: at`/v1/sessions/${name}` }),
      patch: async (name: string, changes: Changes) =>
        call<SessionDetail>('session.patch', { method: 'PATCH', path: at`/v1/sessions/${name}`, body: changes }),
      rename: async (name: string, title: string) =>
        call<SessionDetail>('session.rename', { method: 'POST', path: at`/v1/sessions/${name}/name`, body: { title } }),
      delete: async (name: string) =>
        call<{ readonly deleted: boolean }>('session.delete', { method: 'DELETE', path: at`/v1/sessions/${name}` }),
      /** The newest events, or those before number `before`; `limit` 1 to 200. */
      history: async (name: string, page: Partial<HistoryPage> = {}) =>
        call<SessionHistory>('session.history', {
          method: 'GET',
          path: at`/v1/sessions/${name}/history`,
          query: { ...page },
        }),
      /** A boundary of what the model is shown: `truncated`, `compacted` or `replaced`. */
      setHistory: async (name: string, boundary: object) =>
        call<SessionDetail>('session.setHistory', {
          method: 'POST',
          path: at`/v1/sessions/${name}/history`,
          body: boundary,
        }),
    },
    agent: {
      /** Posts a text and waits for the answer to it. `api:<name>` is begun if there is no session of that name. */
      prompt: async (name: string, request: PostRequest) =>
        call<PostAnswer>('agent.prompt', {
          method: 'POST',
          path: at`/v1/sessions/${name}/messages`,
          body: request,
          waitMs: (request.waitSeconds ?? WAIT_SECONDS) * 1000,
        }),
    },
  }
}
