import type { Address, ChatType } from './address.ts'
import type { Applicant } from './admission.ts'
import type { Payer } from './budget.ts'
import type { Namespace } from './caller.ts'
import {
  type AgentId,
  CLAIMED_OWNER,
  type PersonId,
  type ScheduleId,
  type ScopeKey,
  type SessionId,
  type TraceId,
  type TurnId,
} from './ids.ts'
import type { InboundEvent } from './message.ts'
import type { Reader } from './outbound.ts'
import type { AuthorId } from './platform-id.ts'
import type { Precheck } from './precheck.ts'
import type { Role, Session, SessionKind, SessionScope } from './session.ts'
import type { SessionContext } from './session-context.ts'

/** Which entrance a dispatch came by; authority depends on it. `hook` and `node`: a program that was let in as such. */
export type Origin = 'platform' | 'schedule' | 'tool' | 'api' | 'hook' | 'node' | 'operator'

/** The place the answer goes to; copied to the turn and to each delivery. */
export interface ReplyTarget {
  readonly address: Address
  /** The message that is answered. */
  readonly replyTo?: string
  /**
   * It was asked for from elsewhere, where the answer is read from the store. `only`: the chat gets nothing. `too`: it
   * is posted in the chat as well (S44).
   */
  readonly elsewhere?: 'only' | 'too'
  /** The one person it is meant for (`OutboundMessage.reader`). */
  readonly reader?: Reader
}

/** The value that every entrance passes to the pipeline. */
export interface Dispatch {
  readonly origin: Origin
  readonly traceId: TraceId
  readonly event: InboundEvent
  /** Ms since the epoch, our clock. */
  readonly receivedAt: number
  readonly reply: ReplyTarget
  /** An explicit session key of the caller (K23); never there for origin `platform`. No entrance gives one yet. */
  readonly callerKey?: string
  /** The session that `callerKey` names, looked up before the decision; absent while there is none (K25, K26). */
  readonly named?: NamedSession
  /** Put into a session that the caller named; always there for origin `tool`, never for a platform's own messages. */
  readonly posted?: PostedText
  /** The text as it came, where a hook has changed that of the event. */
  readonly raw?: string
  /** The person who had it answered once more (`/retry`) pays for that, and not its sender. */
  readonly payer?: Payer
  /** The run that made it; always there for origin `schedule`, never for another. */
  readonly schedule?: ScheduledRun
  /** The words of others that Parley has made it of. It is for the acceptance alone and is not stored. */
  readonly madeOf?: ReadWords
}

/** Words that were read in these sessions, after so many removals: nothing made of them is kept once more were made. */
export interface ReadWords {
  readonly sessions: readonly SessionId[]
  readonly since: number
}

/** The fields of a session found by name that routing needs. */
export type NamedSession = Pick<Session, 'agentId' | 'scope' | 'scopeKey' | 'displayKey' | 'kind' | 'chatType'>

/** One run of a schedule. Its dispatch's event carries the prompt as text and the place it delivers to as address. */
export interface ScheduledRun {
  readonly id: ScheduleId
  /** The agent that runs it; the default one if absent. */
  readonly agent?: AgentId
  /** The identity of the schedule's creator, looked up when the run began; the run has its authority. */
  readonly creator: Identity
  /** Everybody else whose words had a part in making it. */
  readonly authors?: readonly AuthorId[]
  /** Everybody who has asked for it, where it was several people. */
  readonly askers?: readonly AuthorId[]
  /** The only web addresses in its text that a person has written; absent: all of them. */
  readonly addresses?: readonly string[]
  /** The session whose turn has made it. */
  readonly madeIn?: SessionId
  /** Its text is the answer: no model is asked. */
  readonly said?: true
  /** Other people's messages that the prompt is about, each line quoted. They are data, never instructions. */
  readonly data?: string
}

/**
 * A text for a session that exists or begins with it, from another session's turn or a client (S44). Its dispatch's
 * event carries the conversation the session belongs to as address, so that rules about places hold; the route is the
 * session's own.
 */
export interface PostedText {
  readonly session: SessionId
  /** The session is not there yet: the commit of its first text makes it, so that a refused one leaves none. */
  readonly begins?: true
  /** The variables of a session that begins (C46). */
  readonly context?: SessionContext
  /** The model that shall answer this text, before those of session and agent (R11). */
  readonly model?: string
  readonly route: Route
  /** The identity of the turn or the client, whose authority it has. */
  readonly identity: Identity
  /** It is stored and owes no answer (S32). */
  readonly append?: true
  /** The id under which the asker becomes a participant; absent for the operator and for another session. */
  readonly participant?: string
  /** The namespace of the token that speaks for them. */
  readonly client?: Namespace
  /** The id of the token that it came with: once that was revoked, it has nobody's authority. */
  readonly token?: string
  /** The ids of the tokens that have led to the turn which wrote it: each counts as its own would. */
  readonly ledBy?: readonly string[]
  /** The writer, where it is not the sender in their own words. */
  readonly from?: Writer
  /** The turn whose call wrote it: whoever has asked there pays for the answer. */
  readonly turn?: TurnId
  /** The code of a question that was answered after its turn had ended: the call it is about is made now. */
  readonly approval?: string
  /** The answer to a question, by a button or a command: an address in it is none that a person has written. */
  readonly chosen?: true
  /** Those who will read the answer elsewhere: the readers of the session whose turn asks. */
  readonly readers?: readonly AuthorId[]
}

/** A text that no person wrote: data to the model, whoever's authority it comes with. */
export type Writer = WritingSession | WritingHook

/** A program outside, by the name of its hook. */
export interface WritingHook {
  readonly hook: string
  /** The operator's own words for the task of its calls. */
  readonly prompt?: string
}

export interface WritingSession {
  readonly session: SessionId
  readonly displayKey: string
  readonly agent: AgentId
  /** Messages between sessions that led to this one, itself included. */
  readonly hops: number
}

export type TraceStage =
  | 'restoration'
  | 'sender'
  | 'identity'
  | 'access'
  | 'command'
  | 'mute'
  | 'send-policy'
  | 'dispatch'
  | 'session'
  | 'group-rule'

/** One stage that looked at a dispatch, the value that decided, and the config path that would flip it. */
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
  /**
   * Not everybody who speaks in the place has this session there: senders are apart, or a rule asks who speaks or how.
   */
  readonly apart?: true
}

/** The person behind a dispatch. Role `guest` without a person means somebody unknown. */
export interface Identity {
  readonly person?: PersonId
  readonly role: Role
}

/**
 * Returns true if a platform id is the person now that it was: whoever claimed the agent is the same when the
 * configuration names them, as an owner.
 */
export function isStill(was: PersonId | undefined, { person, role }: Identity): boolean {
  return was === person || (was === CLAIMED_OWNER && role === 'owner')
}

export type ContextReason =
  | 'not_addressed'
  | 'others_mentioned'
  | 'send_policy'
  | 'trigger_never'
  | 'muted'
  | 'bot'
  | 'bot_budget'
  | 'appended'
  | 'thread_read'
  | 'restored'
export type RunReason = 'direct' | 'owner' | 'mentioned' | 'wake_word' | 'followed_thread' | 'trigger_always'
export type RefuseReason = 'no_owner_yet' | 'stranger' | 'access' | 'send_policy'
export type IgnoreReason =
  | 'self'
  | 'chat_moved'
  | 'bot'
  | 'unsupported_event'
  | 'command_for_owner'
  | 'empty'
  | 'edits'
  | 'deletions'
  | 'restored'

interface Looked {
  readonly identity: Identity
  readonly trace: readonly TraceStep[]
}

/**
 * The routing answer for one dispatch. `run` owes a turn. `context` is stored in the session and owes none. `control`
 * is a command, never queued behind a turn. `amend` changes what a session has of an earlier message. `refuse` is
 * recorded with its outcome and may owe one polite line. `ignore` is recorded and silent.
 */
export type Decision =
  | (Looked & {
      readonly kind: 'run'
      readonly reason: RunReason
      readonly route: Route
      readonly addressed: boolean
      /** Somebody unknown, who may talk only because anybody may there. */
      readonly public?: true
      /** Asked before the agent is. */
      readonly precheck?: Precheck
    })
  | (Looked & {
      readonly kind: 'context'
      readonly reason: ContextReason
      readonly route: Route
      readonly addressed: boolean
    })
  | (Looked & {
      readonly kind: 'control'
      readonly reason: 'command'
      readonly command: string
      readonly route: Route
      /** Set as for `run`. */
      readonly public?: true
    })
  | (Looked & { readonly kind: 'amend'; readonly reason: 'edited' | 'deleted' })
  | (Looked & {
      readonly kind: 'refuse'
      readonly reason: RefuseReason
      /** The applicant an owner would have to let in; once that is done, earlier messages are handled. */
      readonly asks?: Applicant
    })
  | (Looked & { readonly kind: 'ignore'; readonly reason: IgnoreReason })

export interface Decided {
  /** The dispatch as received, or moved into the topic that its answer begins. */
  readonly dispatch: Dispatch
  readonly decision: Decision
}
