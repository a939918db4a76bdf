import type { RequestId } from './keyed-request.ts'
import type { CheckpointOutcome } from './memory.ts'
import type { Usage } from './model.ts'
import type { Session } from './session.ts'
import type { SettingName, SettingValue } from './session-settings.ts'
import type { TurnStop } from './turn-end.ts'
import type { AskedWorkplace, Workplace } from './workplace.ts'

/** The sessions, as the operator asks for them. */
export interface SessionOperator {
  /** Newest activity first. `limit` 1-200, else `invalid`. */
  list(query: SessionListQuery): Promise<SessionList>
  /** By session id, scope key or display key, as everywhere below; `not_found`. */
  show(name: string): Promise<SessionDetail>
  /** Events before number `before`, or the newest; `limit` 1-200, else `invalid`. */
  history(name: string, page: HistoryPage): Promise<SessionHistory>
  /** The settings of `core/session-settings.ts` by name; null inherits again. `invalid`. */
  patch(name: string, changes: unknown): Promise<SessionDetail>
  /** A boundary of what the model is shown: `truncated`, `compacted` or `replaced`. `invalid`. */
  setHistory(name: string, boundary: unknown): Promise<SessionDetail>
  /** One line, 80 characters at most; else `invalid`. */
  rename(name: string, title: string): Promise<SessionDetail>
  /**
   * Posts a text and waits for the answer (S44); `cli:<name>` is opened if absent. Once `left` is aborted nobody waits
   * any more. `unavailable` without a daemon.
   */
  post(name: string, request: PostRequest, left?: AbortSignal): Promise<PostAnswer>
  /**
   * Begins a session with an agent of its own (C1, R1). `conflict` if there is one of that name, `invalid`,
   * `unavailable` without a daemon.
   */
  start(request: StartRequest): Promise<SessionDetail>
  /**
   * Begins a session of a worker in a workspace, under a name that is drawn (R1). `invalid`, `forbidden`, `unavailable`
   * without a daemon.
   */
  create(request: CreateRequest): Promise<CreatedSession>
  /** Ends the running turn and drops what waits behind it, on disk before it resolves (C17). `forbidden`. */
  cancel(name: string): Promise<CancelAnswer>
  /** Looks through the session now for what is worth remembering (S34). `forbidden`, `unavailable` without a daemon. */
  checkpoint(name: string): Promise<CheckpointOutcome>
  /** With all it holds: idle direct sessions only, else `conflict` or `forbidden`. */
  delete(name: string): Promise<void>
}

export interface SessionListQuery {
  readonly limit: number
  readonly offset: number
  /** The `next` of the page before; in place of an offset. */
  readonly cursor?: string | undefined
  readonly inactive: boolean
}

export interface SessionList {
  readonly sessions: readonly ListedSession[]
  readonly total: number
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string
}

export interface SessionSummary {
  readonly id: string
  readonly key: string
  /** The name by which people know its place; an older daemon leaves it out. */
  readonly title?: string
  readonly kind: string
  readonly status: 'idle' | 'running' | 'awaiting_approval' | 'inactive'
  readonly agent: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly messages: number
  readonly turns: number
  readonly description: string
  readonly preview: string
}

/** A session of a list. */
export interface ListedSession extends SessionSummary {
  /** The tasks that it began, newest activity first (R33). */
  readonly children?: readonly SessionSummary[]
}

/** A session with what is set for it; the values may be those of another version. */
export interface SessionDetail extends SessionSummary, Partial<Readonly<Record<SettingName, SettingValue>>> {
  readonly scopeKey: string
  readonly scope: Session['scope']
  readonly source: Session['source']
  readonly metadata: Readonly<Record<string, string>>
  /** The session whose turn began it as a task. */
  readonly parent?: string
  /** The group of a client's sessions in which it was started. */
  readonly workspace?: string
  /** The place in which the user of the client that started it works: it grants nothing (C43). */
  readonly workplace?: Workplace
  /** The time of its newest export (C42). */
  readonly exportedAt?: number
  /** The time when it was ended, as by `/new`; absent while its conversation continues in it. */
  readonly endedAt?: number
  /** Further names it is found by (K43). */
  readonly aliases: readonly string[]
  /** `<channel>:<id>`, in the order of joining. */
  readonly participants: readonly string[]
  readonly systemSent?: boolean
  readonly abortedLastRun?: boolean
  readonly lastChannel?: string
  readonly lastTo?: string
  /** The newest events, in order. */
  readonly events: readonly SessionEventReport[]
}

export interface SessionEventReport {
  readonly seq: number
  readonly at: number
  /** The public name of `core/event-names.ts`. */
  readonly type: string
  readonly turn?: string
  readonly text: string
  /** The reason for which a turn ended, at its end. */
  readonly stopReason?: TurnStop
  /** The model that wrote it, and the tokens that this took. */
  readonly model?: string
  readonly usage?: Usage
  /** The tools that were asked for, with their arguments as JSON. */
  readonly calls?: readonly { readonly tool: string; readonly arguments: string }[]
  /** The files that belong to it, without their contents. */
  readonly files?: readonly EventFile[]
  /** Made by the software and not said by anybody: a scheduled prompt, a post, a summary. */
  readonly synthetic?: true
  readonly summary?: true
}

/** A file of a message or of a tool's result, as far as it is known. */
export interface EventFile {
  /** The handle of the file in the media store; absent while only the platform has it. */
  readonly media?: string
  readonly mime?: string
  readonly name?: string
  /** Bytes. */
  readonly size?: number
}

/** A session of the API, as its client asks for it. */
export interface StartRequest {
  /** `api:<name>`, `cli:<name>` or `web:<name>`; absent: `api:` and a UUID. */
  readonly name?: string | undefined
  /** The agent by its id; absent: the one that the configuration gives to such a name. */
  readonly agent?: string | undefined
  /** A name for the group of sessions that it belongs to, which may have a model of its own. */
  readonly workspace?: string | undefined
  readonly model?: string | undefined
  /** Some of the tools of the agent; absent: all of them. */
  readonly tools?: readonly string[] | undefined
  /** Variables for the agent's prompt, `{{ctx.<name>}}`; values that look like keys are refused (C30). */
  readonly context?: Readonly<Record<string, string>> | undefined
  /** Names the request if it is to have its effect once, however often it is made. */
  readonly once?: RequestId | undefined
  /** Kept and shown, and granting nothing (C43). */
  readonly workplace?: AskedWorkplace | undefined
}

/** A session as a client of the API creates it: worker is the agent, workspace a named group of its sessions (R1). */
export interface CreateRequest extends Omit<StartRequest, 'name' | 'agent' | 'workspace'> {
  readonly worker: string
  readonly workspace: string
}

/** The new session. Its UUID is a name of it for whoever created it. */
export interface CreatedSession extends SessionDetail {
  readonly uuid: string
}

export interface CancelAnswer {
  readonly session: string
  /** A turn was running. */
  readonly stopped: boolean
  /** Messages that waited and will not be answered. */
  readonly dropped: number
}

export interface PostRequest {
  readonly text: string
  /** False: it is stored in the conversation and no model is called (S32). */
  readonly answer?: boolean | undefined
  /**
   * Variables for the agent's prompt, `{{ctx.<name>}}`, of a session that begins with this text. Values that look like
   * keys are refused.
   */
  readonly context?: Readonly<Record<string, string>> | undefined
  /** The model that shall answer this text; one that the session may be set to. */
  readonly model?: string | undefined
  /** Also in the session's own chat. */
  readonly deliver?: boolean | undefined
  /** Up to an hour, 120 s if absent; 0 does not wait. */
  readonly waitSeconds?: number | undefined
  /** The sender, `<channel>:<id>`. Only a token may set it; everybody else speaks for themselves. */
  readonly sender?: string | undefined
  /** Names the request if it is to have its effect once, however often it is made. */
  readonly once?: RequestId | undefined
}

/**
 * `stored`: no answer was asked for. `ok`: the answer to this very text, without markers; empty where the agent chose
 * to say nothing (S48). `timeout`: it continues, and its answer will be in the history. `error`: it was refused or
 * failed, in words for people.
 */
export type PostAnswer = { readonly runId: string; readonly traceId: string; readonly session: string } & (
  | { readonly status: 'ok'; readonly reply: string }
  | { readonly status: 'stored' | 'accepted' | 'timeout' }
  | { readonly status: 'error'; readonly error: string }
)

export interface HistoryPage {
  readonly limit: number
  readonly before?: number | undefined
}

export interface SessionHistory {
  readonly session: string
  /** In order. */
  readonly events: readonly SessionEventReport[]
  /** Events of the session. */
  readonly total: number
  /** The end of the page before this one; absent on the first. */
  readonly before?: number
}
