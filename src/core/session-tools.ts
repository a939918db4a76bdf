import type { ToolReach } from './call-gate.ts'
import type { AgentId, RunId, SessionId, TurnId } from './ids.ts'
import { SESSION_KINDS, type SessionKind } from './session.ts'
import type { SessionOverrides } from './session-settings.ts'
import type { Principal } from './turn.ts'

/**
 * The tool group `sessions`, whoever calls it: an agent's turn or a client. Every call acts under its caller's
 * authority, looked up host-side; a session that is out of reach is "not found", as if it were not there (S20). A turn
 * may read only what everybody who sees its answer could read, and send only what every author of its conversation
 * could send who could read that conversation too; what is refused for that is `forbidden`, in words for the model.
 * Times are ms since the epoch.
 */
export interface SessionTools {
  /** Newest activity first. A number out of range is clamped, a kind that `readKinds` does not know is left out. */
  list(query: ListQuery, caller: SessionCaller): Promise<readonly SessionRow[]>
  /** Returns messages of a session, named in any way. Throws `not_found` or `forbidden`. */
  history(query: HistoryQuery, caller: SessionCaller): Promise<HistoryAnswer>
  /**
   * Finds messages by their words in the sessions whose history the caller may read. A part of a word is enough; case
   * and marks do not count.
   */
  search(query: MessageQuery, caller: SessionCaller): Promise<readonly MatchingMessage[]>
  /**
   * Hands a session a message and waits for the answer to it. Always answers, with a run id, unless the message is
   * empty (`invalid`) or the turn may not send there (`forbidden`). The answer of a session that may not be read is
   * kept back: `accepted`. The run is on disk before anything is answered and continues whatever becomes of the wait:
   * `signal` ends the wait, not the run.
   */
  send(request: SendRequest, caller: SessionCaller, signal: AbortSignal): Promise<SendAnswer>
  /**
   * Returns where a message to another session acts. A turn whose prompt has the name of its chat or topic, by which
   * others may speak, needs the yes of a person for what it could do otherwise.
   */
  sendReach(sessionKey: string, caller: SessionCaller): Promise<ToolReach>
  /**
   * Waits for a run begun earlier, also before a restart; one that has ended gives its answer without any wait. Throws
   * `not_found` for a run that is not the caller's.
   */
  wait(request: WaitRequest, caller: SessionCaller, signal: AbortSignal): Promise<SendAnswer>
}

/**
 * The caller of a session tool: a client with the authority of one person, or the turn of a session, whose authority is
 * looked up at each call. An owner reaches every session of the agent, anybody else those they take part in (S20, T32).
 */
export type SessionCaller =
  | { readonly principal: Principal; readonly turn?: undefined }
  | { readonly turn: TurnRef; readonly principal?: undefined }

/** The turn that calls a tool, with its session and agent. */
export interface TurnRef {
  readonly id: TurnId
  readonly sessionId: SessionId
  readonly agentId: AgentId
}

export interface ListQuery {
  /** The kinds to list, in any spelling that `readKinds` takes; without one that it knows, all are listed. */
  readonly kinds?: readonly string[]
  /** Visible rows. 50 by default, 200 at most. */
  readonly limit?: number
  /** Inclusive. */
  readonly activeMinutes?: number
  /** The last messages of each, without tool results. 0 by default, 20 at most. */
  readonly messageLimit?: number
}

const KIND_NAMES: ReadonlyMap<string, readonly SessionKind[]> = new Map([
  ...SESSION_KINDS.map((kind): [string, SessionKind[]] => [kind, [kind]]),
  ['direct', ['main', 'other']],
  ['dm', ['main', 'other']],
  ['channel', ['group']],
  ['schedule', ['cron']],
])

/**
 * Returns the kinds that a model or a client means, and the names that mean none. Case, plurals and whatever separates
 * several names in one text do not count; `direct` and `dm` are both kinds of direct session.
 */
export function readKinds(names: readonly string[]): {
  readonly kinds: readonly SessionKind[]
  readonly unknown: readonly string[]
} {
  const asked = names.flatMap((name) => name.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [])
  const meant = (name: string): readonly SessionKind[] =>
    KIND_NAMES.get(name) ?? KIND_NAMES.get(name.replace(/s$/, '')) ?? []
  const found = new Set(asked.flatMap(meant))
  return {
    kinds: SESSION_KINDS.filter((kind) => found.has(kind)),
    unknown: asked.filter((name) => meant(name).length === 0),
  }
}

/** One line of a list, with what is set for the session. A field that is not known is absent. */
export interface SessionRow extends Omit<SessionOverrides, 'model'> {
  /** `main`, `telegram:group:<id>`, `cron:<id>`, `hook:<uuid>`, `node-<id>`, `telegram:direct:<id>`. */
  readonly key: string
  readonly kind: SessionKind
  /** The channel, `internal` where no chat is behind it, else `unknown` (T22). */
  readonly provider: string
  readonly displayName?: string
  readonly updatedAt: number
  readonly sessionId: SessionId
  /** The model that answers there, set or configured. */
  readonly model?: string
  /** The tokens that this model reads at once, where that is known. */
  readonly contextTokens?: number
  /** The tokens of all its runs. */
  readonly totalTokens?: number
  /** The last run reached a model; it was stopped. */
  readonly systemSent?: boolean
  readonly abortedLastRun?: boolean
  /** The channel of the last delivery, for display only. */
  readonly lastChannel?: string
  readonly lastTo?: string
  /** The place of the log: a hint for people, no path a tool could open (T33). */
  readonly transcriptPath: string
  readonly messages?: readonly HistoryMessage[]
}

export interface HistoryQuery {
  readonly sessionKey: string
  /** The newest. 200 by default, 1000 at most. */
  readonly limit?: number
  readonly includeTools?: boolean
}

export interface HistoryAnswer {
  readonly sessionKey: string
  readonly sessionId: SessionId
  /** In order. */
  readonly messages: readonly HistoryMessage[]
  /** Older messages there are and that did not fit. */
  readonly truncated?: true
}

export interface MessageQuery {
  readonly words: string
  /** 10 by default, 50 at most. */
  readonly limit?: number
}

/** A message that has the words, cut to its beginning where it is long. */
export interface MatchingMessage extends HistoryMessage {
  readonly sessionKey: string
  readonly sessionId: SessionId
}

export interface HistoryMessage {
  readonly role: 'user' | 'assistant' | 'toolResult'
  readonly text: string
  readonly timestamp: number
  /** The writer of a user message, for people; never authority. */
  readonly from?: string
  /** The name of the tool, for a tool result. */
  readonly tool?: string
  readonly isError?: true
  /** Belongs to a summary, which the software asked for. */
  readonly summary?: true
}

export interface SendRequest {
  readonly sessionKey: string
  readonly message: string
  /** 30 by default; fractions round down, 0 or less does not wait. */
  readonly timeoutSeconds?: number
  /** Post the answer in the session's own chat too. */
  readonly announce?: boolean
  /**
   * Names the request among its caller's: the same one again is the same run, whose answer is given once it has ended.
   */
  readonly requestId: string
}

export interface WaitRequest {
  readonly runId: string
  readonly timeoutSeconds?: number
}

/**
 * `ok`: the answer of this very run. `accepted`: it will run, nobody waited, or waiting would have closed a circle.
 * `timeout`: it continues, and its answer will be in the history. `error`: it was refused or failed, in words for
 * people.
 */
export type SendAnswer = { readonly runId: RunId; readonly sessionKey: string; readonly sessionId?: SessionId } & (
  | {
      readonly status: 'ok'
      readonly reply: string
      /** The number of removals when the reply was read (`forgetting.removals`); the tools keep it from the model. */
      readonly readAfter: number
    }
  | { readonly status: 'accepted' | 'timeout' }
  | { readonly status: 'error'; readonly error: string }
)
