import type { Address } from './address.ts'
import type { AgentId, RunId } from './ids.ts'
import type { SendAnswer, SendRequest, SessionCaller } from './session-tools.ts'

/**
 * Runs for what comes from no chat (T34). A hook opens a session for each of its calls, a node has one of its own,
 * unless an existing session is named that the caller may reach. Answers, waits and repeats as `SessionTools.send`
 * does.
 */
export interface ExternalRuns {
  /** Returns the id of the run that `start` begins for this request, or has begun. */
  runOf(request: Pick<ExternalRunRequest, 'requestId'>, caller: SessionCaller): RunId
  start(request: ExternalRunRequest, caller: SessionCaller, signal: AbortSignal): Promise<SendAnswer>
}

export interface ExternalRunRequest extends Omit<SendRequest, 'sessionKey' | 'announce'> {
  readonly origin: ExternalOrigin
  readonly sessionKey?: string
}

/**
 * `hook`: the call `id`, a UUID, of the hook `name`; its session is `hook:<id>`. `node`: its session is `node-<id>`.
 */
export type ExternalOrigin =
  | ({ readonly kind: 'hook'; readonly name: string; readonly id: string } & HookTask)
  | { readonly kind: 'node'; readonly id: string }

/** The settings of a hook. */
export interface HookTask {
  /** The agent that reads its calls; the default one if absent. */
  readonly agent?: AgentId
  readonly prompt?: string
  /** The place in which the answer is posted, under the send policy; absent: none. */
  readonly deliverTo?: Address
  /** The sessions that a call may name, whoever's they are. */
  readonly sessions?: readonly string[]
}
