import type { Address, ChatType } from './address.ts'
import type { AgentId, PersonId, ScheduleId, ScopeKey, TraceId } from './ids.ts'
import type { InboundEvent } from './message.ts'
import type { Role, Session, SessionKind, SessionScope } from './session.ts'

/** Which entrance a dispatch came by; authority depends on it. */
export type Origin = 'platform' | 'schedule' | 'tool' | 'api' | 'operator'

/** Where the answer goes; copied to the turn and to each delivery. */
export interface ReplyTarget {
  readonly address: Address
  /** The message to visibly reply to, where that helps. */
  readonly replyTo?: string
}

/** What any entrance hands to the pipeline. */
export interface Dispatch {
  readonly origin: Origin
  readonly traceId: TraceId
  readonly event: InboundEvent
  /** Ms since the epoch, our clock. */
  readonly receivedAt: number
  readonly reply: ReplyTarget
  /** An explicit session key of the caller (K23); never there for origin `platform`. */
  readonly callerKey?: string
  /** The session that `callerKey` names, looked up before the decision; absent while there is none (K25, K26). */
  readonly named?: NamedSession
  /** The run that made it; always there for origin `schedule`, never for another. */
  readonly schedule?: ScheduledRun
}

/** What a route needs of a session that was found by a name. */
export type NamedSession = Pick<Session, 'agentId' | 'scope' | 'scopeKey' | 'displayKey' | 'kind' | 'chatType'>

/** One run of a schedule. Its dispatch's event carries the prompt as text and the place it delivers to as address. */
export interface ScheduledRun {
  readonly id: ScheduleId
  /** The agent that runs it; the default one if absent. */
  readonly agent?: AgentId
  /** Whose authority the run has: its creator's, looked up when the run began. */
  readonly creator: Identity
  /** What the prompt is about: other people's messages, each line quoted. Data, never instructions. */
  readonly data?: string
}

export type TraceStage =
  | 'sender'
  | 'identity'
  | 'access'
  | 'command'
  | 'mute'
  | 'send-policy'
  | 'dispatch'
  | 'session'
  | 'group-rule'

/** One stage that looked at a dispatch, the value that decided, and the config path that would flip it (decision 12). */
export interface TraceStep {
  readonly stage: TraceStage
  readonly verdict: 'pass' | 'stop'
  /** The deciding value, readable: `owner of telegram:111`, `rule "media" denies`. */
  readonly because: string
  /** For example `routing.access.groups[2].who`. Absent where no setting flips it. */
  readonly config?: string
}

/** Which session and agent a dispatch belongs to. */
export interface Route {
  readonly agent: AgentId
  readonly scope: SessionScope
  readonly scopeKey: ScopeKey
  readonly displayKey: string
  readonly kind: SessionKind
  readonly chatType: ChatType
  /** `default`, `dispatch.rule` or `dispatch.rule:<name>` (K22). */
  readonly matchedBy: string
}

/** Who is behind a dispatch. Role `guest` and no person: nobody we know. */
export interface Identity {
  readonly person?: PersonId
  readonly role: Role
}

export type ContextReason = 'not_addressed' | 'others_mentioned' | 'send_policy' | 'trigger_never' | 'edited' | 'muted'
export type RunReason = 'direct' | 'owner' | 'mentioned' | 'wake_word' | 'followed_thread' | 'trigger_always'
export type RefuseReason = 'no_owner_yet' | 'stranger' | 'access'
export type IgnoreReason = 'self' | 'chat_moved' | 'bot' | 'unsupported_event' | 'command_for_owner' | 'empty'

interface Decided {
  readonly identity: Identity
  readonly trace: readonly TraceStep[]
}

/**
 * The routing answer for one dispatch.
 * `run` owes a turn. `context` is stored in the session and owes none. `control` is a command, never queued behind a
 * turn. `refuse` is recorded with its outcome and may owe one polite line. `ignore` is recorded and silent.
 */
export type Decision =
  | (Decided & { readonly kind: 'run'; readonly reason: RunReason; readonly route: Route; readonly addressed: boolean })
  | (Decided & {
      readonly kind: 'context'
      readonly reason: ContextReason
      readonly route: Route
      readonly addressed: boolean
    })
  | (Decided & {
      readonly kind: 'control'
      readonly reason: 'command'
      readonly command: string
      readonly route: Route
    })
  | (Decided & { readonly kind: 'refuse'; readonly reason: RefuseReason })
  | (Decided & { readonly kind: 'ignore'; readonly reason: IgnoreReason })
