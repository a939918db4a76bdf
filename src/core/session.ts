import type { ChatType } from './address.ts'
import type { AgentProfile } from './agent-profile.ts'
import { cutText } from './cut-text.ts'
import type { AccountId, AgentId, ChannelId, ScopeKey, SessionId } from './ids.ts'
import type { SessionOverrides, SettingValues } from './session-settings.ts'

/** The four dimensions that count (K7), in the order a rule lists them. */
export type Dimension = 'space' | 'chat' | 'topic' | 'sender'
export const DIMENSIONS: readonly Dimension[] = ['space', 'chat', 'topic', 'sender']

/** The session of a schedule: nobody is there, and its text goes out once, to another conversation (S47). */
export function isScheduled({ source }: Pick<Session, 'source'>): boolean {
  return source.kind === 'schedule'
}

/** A conversation by a channel of our own: whoever asks there reads the answer there, it has no other chat. */
export function isOwnChannel({ source }: Pick<Session, 'source'>): boolean {
  return source.kind === 'cli' || source.kind === 'web' || source.kind === 'api'
}

/** The parts of a scope key, kept as a structure and not only as a hash (K47). */
export interface SessionScope {
  readonly version: 1
  readonly agent: AgentId
  readonly channel: ChannelId
  readonly account: AccountId
  /** Only the dimensions that had a value, in configured order (K6, K8). */
  readonly dimensions: readonly Dimension[]
  readonly values: Readonly<Partial<Record<Dimension, string>>>
}

export type SourceKind = 'channel' | 'schedule' | 'cli' | 'web' | 'api' | 'hook' | 'node' | 'task'

/** The origin of a session; the source of the first opening never changes (S1, S18). */
export interface SessionSource {
  readonly kind: SourceKind
  /** A person can answer an approval here; schedules and hooks cannot (S47). */
  readonly interactive: boolean
  readonly platform?: ChannelId
  readonly triggerId?: string
  readonly triggerType?: string
}

/** `main` and `other` are direct sessions, the rest speaks for itself (T7, T36). */
export type SessionKind = 'main' | 'group' | 'cron' | 'hook' | 'node' | 'other'
export const SESSION_KINDS: readonly SessionKind[] = ['main', 'group', 'cron', 'hook', 'node', 'other']

export type SendOverride = SettingValues['sendPolicy']
export type ThinkingLevel = SettingValues['thinkingLevel']
export type VerboseLevel = SettingValues['verboseLevel']

/** One row of the store. Times are ms since the epoch. */
export interface Session extends SessionOverrides {
  readonly id: SessionId
  readonly scopeKey: ScopeKey
  readonly scope: SessionScope
  readonly agentId: AgentId
  readonly kind: SessionKind
  /** `main`, `telegram:group:<id>[/<topic>]`, `telegram:direct:<id>`, `cron:<id>` (T2-T4, T36). */
  readonly displayKey: string
  readonly chatType: ChatType
  readonly source: SessionSource
  /** Chat or channel id, topic or thread stamp (S4); merged at reopening, new values win (S18). */
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly lastActivityAt: number
  /** User and assistant messages. */
  readonly messageCount: number
  /** Turn ends. */
  readonly turnCount: number
  /** The last message text from user or assistant, cut to 200 characters; empty before the first. */
  readonly preview: string
  /** One line, at most 80 characters (S14); empty before the first user message. */
  readonly description: string
  readonly descriptionSource: DescriptionSource
  readonly inactiveAt?: number
  /** The time of its newest export (C42). */
  readonly exportedAt?: number
  /** The session whose turn began this one as a task of its own (R36). */
  readonly parent?: SessionId
  /** The version of the agent that began its newest turn (`sessions/service/adopt-agent.ts`); absent before the first. */
  readonly agentVersion?: string
  /** The agent as it was at the start, which the session keeps; absent where the configuration counts (C1). */
  readonly agentProfile?: AgentProfile
  /** Sequence number of the newest event; 0 before the first (C6). */
  readonly lastSeq: number
}

/** The first message, a review, or a person who renamed it; what a person wrote is never replaced (S14, R3). */
export type DescriptionSource = 'fallback' | 'ai' | 'user'

/** The fields of a session that each of its messages changes. */
type SessionProgress =
  | 'exportedAt'
  | 'lastSeq'
  | 'messageCount'
  | 'turnCount'
  | 'lastActivityAt'
  | 'preview'
  | 'description'

/** A session without its progress: the half that stays the same from message to message. */
export type SessionIdentity = Omit<Session, SessionProgress | 'descriptionSource'>

/** The fields of a session that are known before its row exists. */
export interface SessionDraft
  extends Pick<Session, 'id' | 'scopeKey' | 'scope' | 'agentId' | 'kind' | 'displayKey' | 'chatType' | 'source'>,
    Pick<Session, 'metadata' | 'agentProfile' | 'parent'> {
  /** The session that it follows: its settings are taken over as they are stored. */
  readonly settingsOf?: SessionId
}

/** `guest`: nobody we know. An unknown role counts as no owner. */
export type Role = 'owner' | 'member' | 'guest'

/**
 * The first user message as a one-line description: 80 characters at most, else 77 and three dots (S14). Never half an
 * emoji.
 */
export function fallbackDescription(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= 80 ? line : `${cutText(line, 77)}...`
}
