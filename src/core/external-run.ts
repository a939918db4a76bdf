import type { SendAnswer, SendRequest, SessionCaller } from './session-tools.ts'

/**
 * Runs for what comes from no chat (T34). A hook opens a session for each of its calls, a node has one of its own,
 * unless an existing session is named that the caller may reach. Answers, waits and repeats as `SessionTools.send`
 * does.
 */
export interface ExternalRuns {
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
  | { readonly kind: 'hook'; readonly name: string; readonly id: string }
  | { readonly kind: 'node'; readonly id: string }
