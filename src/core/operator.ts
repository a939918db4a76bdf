import type { Usage } from './model.ts'
import type { AdmissionOperator } from './operate-admissions.ts'
import type { ConfigOperator } from './operate-config.ts'
import type { OutboxOperator, RestorationReport } from './operate-outbox.ts'
import type { PeopleOperator } from './operate-people.ts'
import type { ScheduleOperator } from './operate-schedules.ts'
import type { Session } from './session.ts'
import type { SettingName, SettingValue } from './session-settings.ts'
import type { Spending } from './spending.ts'

/** Longest body the local API takes: 1 MB. */
export const MOST_BODY_BYTES = 1024 * 1024

/**
 * Answers an operator's questions, over the local socket or from a store that no daemon holds. Every shape here is
 * plain JSON, as the API and `--json` print it. Times are ms since the epoch.
 */
export interface OperatorService {
  status(): Promise<StatusReport>
  /**
   * By a link to the message, or by inbox id, trace id or platform message id, newest first. A message of ours stands
   * for those it answered. Empty if nothing of that name was ever received or sent.
   */
  why(name: string): Promise<readonly WhyReport[]>
  /** Returns why a message of that name may never have been received, likeliest first, each with its remedy. */
  unseen(name: string): Promise<readonly string[]>
  readonly sessions: {
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
     * Posts a text and waits for the answer (S44); `cli:<name>` is opened if absent. `unavailable` without a daemon.
     */
    post(name: string, request: PostRequest): Promise<PostAnswer>
    /** With all it holds: idle direct sessions only, else `conflict` or `forbidden`. */
    delete(name: string): Promise<void>
  }
  readonly tokens: TokenOperator
  readonly schedules: ScheduleOperator
  readonly people: PeopleOperator
  readonly admissions: AdmissionOperator
  readonly outbox: OutboxOperator
  readonly config: ConfigOperator
}

/** Begins what is said of a message whose record was deleted for its age. */
export const AGED_OUT = 'Its record has aged out'

/** Channel tokens (S42). */
export interface TokenOperator {
  /** The token is in the answer and nowhere else, ever. `invalid` for what is no namespace. */
  create(namespace: string, label?: string): Promise<TokenReport & { readonly token: string }>
  /** Newest first, the revoked ones too. */
  list(): Promise<readonly TokenReport[]>
  /** From now on. `not_found`. */
  revoke(id: string): Promise<void>
}

export interface TokenReport {
  readonly id: string
  readonly namespace: string
  readonly label: string
  readonly createdAt: number
  readonly revokedAt?: number
}

export interface StatusReport {
  readonly version: string
  /** Absent when the store was read without a daemon. */
  readonly startedAt?: number
  readonly channels: readonly ChannelStatus[]
  readonly ownerKnown: boolean
  /** Links that make whoever follows one the owner; only while there is none. */
  readonly claimLinks: readonly string[]
  readonly models: readonly string[]
  /** Models whose last call failed; absent if none did. */
  readonly modelTroubles?: readonly ModelTrouble[]
  /** Chats whose other bots have used up their budget and are not answered now. */
  readonly botsHeld: readonly string[]
  readonly sessions: number
  readonly runningTurns: number
  /** Messages that wait for a turn. */
  readonly waiting: number
  /** The decisions that wait for an owner since the database was restored; absent if there are none. */
  readonly restored?: Omit<RestorationReport, 'unanswered'>
  /** The cost of all turns since midnight; absent in the answers of older daemons. */
  readonly spentToday?: Spending
  /** Outbox rows by state. */
  readonly outbox: Readonly<Record<string, number>>
  /** Sends whose outcome nobody could know, newest first: for the operator to look at. */
  readonly uncertain: readonly ListedDelivery[]
  /** Messages that were refused for good or grew too old, newest first. */
  readonly undelivered: readonly ListedDelivery[]
}

export interface ModelTrouble {
  readonly model: string
  readonly at: number
  readonly code: string
  readonly cause: string
  readonly remedy: string
}

export interface ChannelStatus {
  readonly channel: string
  readonly account: string
  readonly status: 'starting' | 'up' | 'down'
  readonly detail?: string
  readonly username?: string
  /** The transport in words for people: `by polling`. */
  readonly receives?: string
  readonly lastProofAt?: number
  /** The last trouble that kept it from receiving, kept after it was mended. */
  readonly lastTrouble?: { readonly detail: string; readonly at: number }
  readonly hints: readonly string[]
  /** Events that were received and not understood, by kind. */
  readonly unknown: Readonly<Record<string, number>>
}

export interface ListedDelivery {
  readonly id: string
  readonly address: string
  /** The name by which people know the place; absent where none is known, and from an older daemon. */
  readonly title?: string
  readonly state: string
  readonly reason?: string
  readonly traceId: string
}

/** The stored decision trace of one message. */
export interface WhyReport {
  /**
   * One sentence: what was decided, why, and the command or setting that changes it. A daemon that has not been started
   * again since an upgrade gives none.
   */
  readonly summary?: string
  readonly inboxId: string
  readonly traceId: string
  readonly receivedAt: number
  readonly event: string
  readonly messageId?: string
  readonly address: string
  /** The name by which people know the place; absent where none is known, and from an older daemon. */
  readonly title?: string
  readonly sender: { readonly id: string; readonly name?: string }
  readonly decision: string
  readonly reason: string
  readonly steps: readonly WhyStep[]
  /** The part of the conversation that its model has read, in words. */
  readonly context?: string
  /** Tool calls of its turn that the host refused. */
  readonly denied?: readonly { readonly tool: string; readonly reason: string }[]
  readonly session?: string
  readonly turn?: string
  /** The outcome; `waiting` or `claimed` while an answer is still owed. */
  readonly outcome: string
  /** The failure of its turn and the remedy for it. */
  readonly failure?: { readonly code: string; readonly cause: string; readonly remedy: string }
  /** The deliveries of the message, part by part. */
  readonly deliveries: readonly { readonly state: string; readonly messageId?: string; readonly reason?: string }[]
}

export interface WhyStep {
  readonly stage: string
  readonly verdict: 'pass' | 'stop'
  readonly because: string
  /** The setting that would flip it. */
  readonly config?: string
}

export interface SessionListQuery {
  readonly limit: number
  readonly offset: number
  readonly inactive: boolean
}

export interface SessionList {
  readonly sessions: readonly SessionSummary[]
  readonly total: number
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

/** A session with what is set for it; the values may be those of another version. */
export interface SessionDetail extends SessionSummary, Partial<Readonly<Record<SettingName, SettingValue>>> {
  readonly scopeKey: string
  readonly scope: Session['scope']
  readonly source: Session['source']
  readonly metadata: Readonly<Record<string, string>>
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
  readonly type: string
  readonly turn?: string
  readonly text: string
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

export interface PostRequest {
  readonly text: string
  /** False: it is stored in the conversation and no model is called (S32). */
  readonly answer?: boolean | undefined
  /**
   * Variables for the agent's prompt, `{{ctx.<name>}}`, of a session that begins with this text. Values that look like
   * keys are refused.
   */
  readonly context?: Readonly<Record<string, string>> | undefined
  /** Also in the session's own chat. */
  readonly deliver?: boolean | undefined
  /** Up to an hour, 120 s if absent; 0 does not wait. */
  readonly waitSeconds?: number | undefined
  /** The sender, `<channel>:<id>`. Only a token may set it; everybody else speaks for themselves. */
  readonly sender?: string
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
