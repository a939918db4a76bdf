import type { SessionId } from './ids.ts'
import type { RequestId } from './keyed-request.ts'

/** `move`: the conversation continues elsewhere and ends here. `fork`: it continues in both places, each for itself. */
export type RelocationKind = 'move' | 'fork'

export interface RelocationRequest {
  readonly kind: RelocationKind
  /** An address, `<channel>:<direct|group|channel>:<chat>[/<topic>]`, or any name of a session of the conversation. */
  readonly to: string
  /** The wider audience was named, and is meant. */
  readonly confirmed?: boolean | undefined
  /** Names the request if it is to have its effect once, however often it is made. */
  readonly once?: RequestId | undefined
}

/** The result of a relocation. `asks`: nothing was done yet, since more people could read the session. */
export type Relocation =
  | { readonly state: 'asks'; readonly session: SessionId; readonly to: string; readonly audience: string }
  | {
      readonly state: 'done'
      readonly from: SessionId
      readonly session: SessionId
      readonly key: string
      /** The session that the conversation had; it is kept and no longer used. */
      readonly replaced?: SessionId
      /** The agent that answers there, where it is another one. */
      readonly agent?: string
    }
