import type { ListedModel, ModelList } from '../core/completion.ts'
import type { ExportFormat } from '../core/export-format.ts'
import type { CheckpointOutcome } from '../core/memory.ts'
import type {
  CancelAnswer,
  CreatedSession,
  CreateRequest,
  HistoryPage,
  PostAnswer,
  PostRequest,
  SessionDetail,
  SessionHistory,
  SessionList,
  SessionListQuery,
  StartRequest,
} from '../core/operate-sessions.ts'
import type { Relocation, RelocationRequest } from '../core/relocation.ts'
import type { SettingName, SettingValue } from '../core/session-settings.ts'
import { at, type CallOperation } from './call.ts'

/** Settings of a session by name; null inherits again. */
type Changes = Readonly<Partial<Record<SettingName, SettingValue | null>>>

type Place = Pick<RelocationRequest, 'to' | 'confirmed'>

/** The daemon's own wait for an answer. */
export const WAIT_SECONDS = 120

/** Returns the operations on sessions. A session is named by its id, its key or an alias. */
export function sessionOperations(call: CallOperation) {
  return {
    session: {
      /** Newest activity first; `limit` 1 to 200. */
      list: (query: Partial<SessionListQuery> = {}) =>
        call<SessionList>('session.list', { method: 'GET', path: '/v1/sessions', query: { ...query } }),
      start: (request: StartRequest = {}) =>
        call<SessionDetail>('session.start', { method: 'POST', path: '/v1/sessions', body: request }),
      /** A session of a worker, which is an agent, under a name that is drawn. */
      create: async ({ workspace, ...request }: CreateRequest) =>
        call<CreatedSession>('session.create', {
          method: 'POST',
          path: at`/v1/workspaces/${workspace}/sessions`,
          body: request,
        }),
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
      /** Puts a text into the conversation; nobody answers it. */
      append: async (name: string, message: Pick<PostRequest, 'text' | 'sender'>) =>
        call<PostAnswer>('session.append', { method: 'POST', path: at`/v1/sessions/${name}/append`, body: message }),
      /** Ends the running turn, and drops what waits behind it. */
      cancel: async (name: string) =>
        call<CancelAnswer>('session.cancel', { method: 'POST', path: at`/v1/sessions/${name}/cancel` }),
      /** Looks through a session for what is worth remembering. */
      checkpoint: async (name: string) =>
        call<CheckpointOutcome>('session.checkpoint', {
          method: 'POST',
          path: at`/v1/sessions/${name}/checkpoint`,
          waitMs: WAIT_SECONDS * 1000,
        }),
      /** The text of a file. */
      export: async (name: string, format: ExportFormat) =>
        call<string>('session.export', {
          method: 'GET',
          path: at`/v1/sessions/${name}/export`,
          query: { format },
          file: true,
        }),
      /** Continues a session in another conversation, and ends it here; `to` is an address. */
      move: async (name: string, place: Place) =>
        call<Relocation>('session.move', { method: 'POST', path: at`/v1/sessions/${name}/move`, body: place }),
      /** Continues a session in another conversation as well. */
      fork: async (name: string, place: Place) =>
        call<Relocation>('session.fork', { method: 'POST', path: at`/v1/sessions/${name}/fork`, body: place }),
    },
    /** The agents, as clients of OpenAI see them. */
    model: {
      list: () => call<ModelList>('model.list', { method: 'GET', path: '/v1/models' }),
      load: async (id: string) => call<ListedModel>('model.load', { method: 'GET', path: at`/v1/models/${id}` }),
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
