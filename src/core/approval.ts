import type { ReplyTarget } from './dispatch.ts'
import type { AgentId, PersonId, SessionId, TraceId, TurnId } from './ids.ts'

/** The outcome of the policy for a call. `ask`: a person is asked, and nothing is done before they agree. */
export type ToolVerdict = 'allow' | 'ask' | 'deny'

/** A rule of `tools.policy`. For each author of a turn the first rule that fits counts; of several the strictest. */
export interface ToolRule {
  /** Names of tools; one that ends in `*` stands for all that begin like it. */
  readonly tools: readonly string[]
  /** `owner`, `member` (owners too), `everybody`, or people by name. Nobody's words are those of `everybody` alone. */
  readonly who: readonly string[]
  /** Sessions by their key, each with its topics. Absent: everywhere. */
  readonly in?: readonly string[]
  readonly action: ToolVerdict
  /** People by name who may answer besides owners; of a rule that asks. */
  readonly approvers?: readonly PersonId[]
}

/** Returns everybody who may answer a question under some rule without being an owner. */
export function namedApprovers(rules: readonly ToolRule[]): readonly PersonId[] {
  return [...new Set(rules.flatMap(({ approvers = [] }) => approvers))]
}

/** A turn waits this long for an answer; then it continues without, and the question stays open. */
export const WAITS_MS = 120_000
/** An answer counts for this long after the question. */
export const OPEN_MS = 600_000

/** `used`: the call was begun, by `usedBy`; an approval is good for one. */
export type ApprovalState = 'asked' | 'allowed' | 'denied' | 'used'

/** A question whether one call may be made. Times are ms since the epoch. */
export interface Approval {
  /** A name that people type; it proves nothing. */
  readonly code: string
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly callId: string
  readonly traceId: TraceId
  readonly tool: string
  /** The arguments of the call, exactly: another call of the tool is another question. */
  readonly args: unknown
  /** The place where the result is read. */
  readonly reply: ReplyTarget
  readonly askedAt: number
  readonly state: ApprovalState
  /** The turn has continued without the call. */
  readonly late: boolean
  readonly decidedBy?: string
  readonly decidedAt?: number
  readonly usedBy?: TurnId
  /** The turn that asked was shown the words of owners alone. */
  readonly forOwners?: true
}

export type NewApproval = Pick<
  Approval,
  'code' | 'sessionId' | 'turnId' | 'callId' | 'traceId' | 'tool' | 'args' | 'reply' | 'askedAt' | 'forOwners'
>

/** The event of a question; the call itself is in the step before it. */
export type ApprovalRequestData = Pick<Approval, 'code' | 'callId' | 'tool' | 'args'>

/** The event of an answer. */
export interface ApprovalDecisionData {
  readonly code: string
  readonly state: 'allowed' | 'denied'
  readonly by: string
}

/** A rule that an owner has given with an answer: such calls are made without a question. */
export interface StandingRule {
  /** The code of the question that it was given with. */
  readonly code: string
  readonly tool: string
  /** The agent that asked: what one may do, another with other tools and another prompt may not. */
  readonly agent: AgentId
  /** The conversation, as lists name its sessions, without its topics. Absent: everywhere. */
  readonly in?: string
  /** It holds where the words of owners alone are shown, or also of members. */
  readonly who: 'owner' | 'member'
  /** Whoever gave it, by name or id; it ends with their role. */
  readonly by: string
  /** Ms since the epoch. */
  readonly at: number
}

/** Somebody who answers questions: `by` is their name, or the platform id of an owner without one. */
export interface Decider {
  readonly by: string
  readonly owner: boolean
}

/** The questions as an owner or a named approver answers them. */
export interface ApprovalDesk {
  /**
   * Answers by code and returns what became of it. `not_found` for a code that names none, `forbidden` for somebody who
   * may not answer this one, as things are now, `conflict` for one that is over.
   */
  decide(code: string, state: 'allowed' | 'denied', decider: Decider): Promise<Approval>
  /**
   * Allows a call and gives the rule that such calls are allowed from now on, in its conversation or everywhere. Throws
   * like `decide`, and `forbidden` for anybody but an owner, and where somebody has spoken whom nobody let in by name.
   */
  allowAlways(code: string, where: 'here' | 'everywhere', decider: Decider): Promise<Approval>
  /** Returns the rules that were given so, oldest first. */
  rules(): Promise<readonly StandingRule[]>
  /** Takes a rule back by its code. Throws `not_found` if there is none, unless the same request has taken it back. */
  forget(code: string, request: string): Promise<void>
  /** Returns the open questions that somebody may answer, oldest first. */
  open(decider: Decider): Promise<readonly Approval[]>
}

const GIVEN = 'approved_'

/** Returns the id of the call that is made in a later turn. */
export function approvedCallId(code: string): string {
  return `${GIVEN}${code}`
}

/** Returns the code of the question behind such a call; undefined for a call that the model has made. */
export function approvedCode(callId: string): string | undefined {
  return callId.startsWith(GIVEN) ? callId.slice(GIVEN.length) : undefined
}
