import type { Caller } from './caller.ts'
import type { RequestId } from './keyed-request.ts'
import type { PostAnswer } from './operate-sessions.ts'

/** The clients that have one session each, `node-<id>` (T34). */
export interface NodeOperator {
  /**
   * Posts a text into the session of a node, which its first text opens, and waits for the answer as a post into any
   * session does. A token speaks for the node whose namespace it has. Throws `not_found` for a node of somebody else,
   * and `invalid`. Once `left` is aborted nobody waits any more.
   */
  post(id: string, post: NodePost, left?: AbortSignal): Promise<PostAnswer>
}

export interface NodePost {
  readonly text: string
  /** Up to an hour, 120 s if absent; 0 does not wait. */
  readonly waitSeconds?: number | undefined
  /** The request behind it, which posts once. */
  readonly once?: RequestId | undefined
}

/** Does what `NodeOperator` does for any caller. */
export interface Nodes {
  post(caller: Caller, id: string, post: NodePost, left?: AbortSignal): Promise<PostAnswer>
}
