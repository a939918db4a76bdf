/**
 * The place where a call acts. `inside`: in its conversation, which is open to all who may talk there. `judged`: the
 * service behind the tool decides by what the arguments name. `beyond`: elsewhere, which nobody's words alone may do.
 */
export type ToolReach = 'inside' | 'judged' | 'beyond'

/** A call as it is judged, before anything of it is done. */
export interface GatedCall {
  readonly callId: string
  readonly tool: string
  readonly args: unknown
  readonly reach: ToolReach
  /** Words that the turn was shown may be elsewhere, or outlive its log, once the call is made. */
  readonly keepsWords?: boolean
}

/**
 * `ask`: a person has to agree; `code` names the question, and `asked` says that it is on record already, from before a
 * crash. `reason` is in words for the model.
 */
export type GateVerdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly code: string; readonly asked: boolean }

/**
 * `open`: nobody has answered in time. `refused`: somebody has allowed it, and it may not be made any more; `reason` is
 * in words for the model.
 */
export type ApprovalOutcome =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly by: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'open' }

/** The gate of a turn, which every call passes. It looks up at each call what holds then. */
export interface CallGate {
  judge(call: GatedCall): Promise<GateVerdict>
  /** Waits two minutes at most for the answer to a question that is on record, or until `signal` ends the turn. */
  outcome(code: string, signal: AbortSignal): Promise<ApprovalOutcome>
}
