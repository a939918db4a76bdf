import type { Address } from './address.ts'
import type { InboundEvent } from './message.ts'

/** The part of a thread that is asked for. */
export interface ThreadPlace {
  /** The thread is its topic. */
  readonly address: Address
  /** The id of the message that is not read any more. */
  readonly before: string
  /** Messages that are wanted; the newest ones. */
  readonly most: number
}

export type ThreadRead =
  /** In order, as they would have been accepted. `left`: there is more of it. */
  | { readonly kind: 'read'; readonly events: readonly InboundEvent[]; readonly left: boolean }
  | { readonly kind: 'cannot_tell'; readonly reason: string }
