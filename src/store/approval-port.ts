import type { Approval, NewApproval, StandingRule } from '../core/approval.ts'
import type { SessionId, TurnId } from '../core/ids.ts'

/** The questions whether a call may be made. */
export interface ApprovalReader {
  get(code: string): Promise<Approval | undefined>
  /** Returns the question about a call of a turn. */
  ofCall(turn: TurnId, callId: string): Promise<Approval | undefined>
  /** Returns those without an answer that were asked at `since` or later, oldest first. */
  open(since: number): Promise<readonly Approval[]>
  /**
   * Returns those asked at `since` or later whose turn has continued without the call, which was allowed and has not
   * begun.
   */
  owed(since: number): Promise<readonly Approval[]>
}

export interface ApprovalWriter {
  /** The code must be new. Questions of more than ninety days ago are deleted. */
  add(approval: NewApproval): Promise<void>
  /** Returns false if it was answered before. */
  decide(
    code: string,
    decision: { readonly state: 'allowed' | 'denied'; readonly by: string; readonly at: number },
  ): Promise<boolean>
  /**
   * Marks an allowed call as begun by a turn, in the commit of its intent. Returns false if it is not, or not any more.
   */
  use(code: string, by: TurnId): Promise<boolean>
  /** Marks that the turn continues without the call. */
  leave(turn: TurnId, callId: string): Promise<void>
  /** Deletes those of a session. */
  remove(session: SessionId): Promise<void>
}

/** The rules that owners have given in chats. */
export interface StandingRuleReader {
  /** Returns all, oldest first. */
  all(): Promise<readonly StandingRule[]>
}

export interface StandingRuleWriter {
  /** Does nothing for a code that has a rule. */
  add(rule: StandingRule): Promise<void>
  /** Returns false if there is none of that code. */
  remove(code: string): Promise<boolean>
}
