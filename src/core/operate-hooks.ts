import type { Address } from './address.ts'
import type { Caller } from './caller.ts'
import type { HookTask } from './external-run.ts'

/** The calls of other programs (T34), as they come in. */
export interface InboundHooks {
  /**
   * Takes a call whose signature is right, once: a repeated one gives the answer of the first. Resolves as soon as the
   * run is on disk. Throws `not_found` for a hook or a session that there is not, `unauthorized` for a wrong signature,
   * `conflict` for one that was used before and for an id that names another call, `invalid`, and `unavailable` without
   * a daemon.
   */
  receive(caller: Caller, call: HookedCall): Promise<HookedRun>
}

/** Does the same as `InboundHooks`, for whoever asks. */
export interface HookOperator {
  receive(call: HookedCall): Promise<HookedRun>
}

/** A call as it came. */
export interface HookedCall {
  /** The name of the hook. */
  readonly name: string
  readonly body: Uint8Array
  /** Says the charset and the form of the body, as its header has it. */
  readonly contentType?: string | undefined
  /** The values of the headers that matter, as they are. */
  readonly signature?: string | undefined
  readonly timestamp?: string | undefined
  readonly githubSignature?: string | undefined
  /** Names the call: the same one again is the same run. */
  readonly id?: string | undefined
  /** The kind of event, as GitHub says it beside the body. */
  readonly event?: string | undefined
  /** The session it is to go to, one of those that the hook may name. */
  readonly session?: string | undefined
}

export interface HookedRun {
  readonly runId: string
  readonly session: string
  /** `repeated`: the call had come before, and nothing was begun. */
  readonly status: 'accepted' | 'repeated'
}

/** A hook as it is configured. */
export interface InboundHook extends HookTask {
  readonly name: string
  readonly secret: string
  readonly signature: 'parley' | 'github'
  readonly deliverTo?: Address
  readonly sessions: readonly string[]
}
