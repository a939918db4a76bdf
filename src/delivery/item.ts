import type { SendingProof } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { DeliveryId } from '../core/ids.ts'
import type { Delivery, DeliveryReceipt, DeliveryState } from '../core/outbound.ts'
import type { DeliverySettings } from './settings.ts'

/**
 * One part of a message on its way. Each state has what is known in it and nothing else; `next` says what follows
 * (README.md has every transition). Times are those of `clock.elapsed()`, which nobody sets.
 */
export type Item =
  /** It waits in its conversation; only its id is kept. */
  | { readonly kind: 'queued'; readonly id: DeliveryId }
  /** First in its conversation: nothing of it is under way, and it may go at `notBefore`. */
  | { readonly kind: 'due'; readonly row: Delivery; readonly expiresAt: number; readonly notBefore: number }
  /** A slot of its account comes at `slotAt`; then `sending` is committed. */
  | Reserved
  /** `sending` is committed: the call to the platform is next, or under way. */
  | Sending
  /** A call was made and nobody knows what became of it. */
  | Uncertain
  /** What became of it is known and not on disk yet; `after` is where it goes on. */
  | Recording
  | { readonly kind: 'ended' }

export interface Reserved {
  readonly kind: 'reserved'
  readonly row: Delivery
  readonly expiresAt: number
  readonly slotAt: number
  readonly as: Attempt
  /** What it was before, if the outcome of a call of it is unknown. */
  readonly lost?: Uncertain
}

export interface Sending {
  readonly kind: 'sending'
  readonly row: Delivery
  readonly expiresAt: number
  /** When the first call of this message began. */
  readonly startedAt: number
  readonly as: Attempt
  readonly loss?: Loss
}

export interface Uncertain {
  readonly kind: 'uncertain'
  readonly row: Delivery
  readonly expiresAt: number
  readonly loss: Loss
  /** What the platform said when it was asked for the message. */
  readonly looked?: { readonly found: Looked; readonly at: number }
  /** What came of asking whether a message would arrive now. */
  readonly proven?: { readonly proof: SendingProof; readonly at: number; readonly tries: number }
}

export interface Recording {
  readonly kind: 'recording'
  readonly id: DeliveryId
  readonly row?: Delivery
  readonly change: Change
  readonly after: Item
  /** The platform wants nothing more in this chat for so long. */
  readonly pauseMs?: number
  /** The chat has another address. */
  readonly movedTo?: Address
}

/**
 * How a call relates to the one before it. `first`: nothing of it can have arrived. `again`: the same call under the
 * same key, of which the platform keeps one. `anew`: the one before is known not to be there, or may be done twice.
 * `repeat`: a second message to people, marked as such.
 */
export type Attempt = 'first' | 'again' | 'anew' | 'repeat'

/** What the platform said when it was asked for a message; one that belongs to another row is not it. */
export type Looked =
  /** `outdated`: it shows an earlier text. */
  | { readonly kind: 'found'; readonly messageId: string; readonly outdated: boolean }
  | { readonly kind: 'absent' }
  /** With `retryAfterMs` only for now. */
  | { readonly kind: 'cannot_tell'; readonly reason: string; readonly retryAfterMs?: number }

/** A call whose outcome is unknown. */
export interface Loss {
  /** When it became unknown, in this process. */
  readonly at: number
  /** When a call of this message first did, in this process. */
  readonly since: number
  /** When the first call of this message began, as far as can be told. */
  readonly startedAt: number
  /** Another process made the call, so no time of this one says how long ago. */
  readonly foreign: boolean
}

/** What is written about an item. */
export type Change =
  | {
      readonly kind: 'settle'
      readonly state: DeliveryState
      readonly reason?: string
      readonly messageId?: string
      /** From now, ms. */
      readonly waitMs?: number
    }
  /** The message to change is gone: the text goes out as a message of its own. */
  | { readonly kind: 'send_anew' }
  /** The message stands in the chat and shows an earlier text: the rest is an edit of it. */
  | { readonly kind: 'edit'; readonly messageId: string }

/** What is done next about an item; all but the last three have an answer. */
export type Effect =
  /** Read its row. */
  | { readonly do: 'load' }
  /** Take a slot of chat and account. */
  | { readonly do: 'reserve' }
  /** Ask send policy, and commit `sending`. */
  | { readonly do: 'begin' }
  /** Call the platform. */
  | { readonly do: 'call' }
  /** Ask the platform whether the message is there. */
  | { readonly do: 'look' }
  /** Ask the platform whether a message to this chat would arrive now. */
  | { readonly do: 'prove' }
  /** Write what became of it. */
  | { readonly do: 'record' }
  /** Come back at `until`. */
  | { readonly do: 'wait'; readonly until: number }
  /** Come back when the channel is ready. */
  | { readonly do: 'park' }
  /** Take it out of its conversation. */
  | { readonly do: 'leave' }

/** An effect that has an answer. */
export type Asking = Exclude<Effect, { do: 'wait' | 'park' | 'leave' }>

/** What came of the last effect. */
export type Answer =
  | { readonly to: 'load'; readonly row: Delivery | 'unreadable' | undefined }
  /** `later`: there is no slot to book; ask again then. */
  | { readonly to: 'reserve'; readonly slotAt: number; readonly later: boolean }
  /** Undefined: the row is no longer ours to send. */
  | { readonly to: 'begin'; readonly row: Delivery | undefined }
  | { readonly to: 'begin'; readonly denied: string }
  | { readonly to: 'call'; readonly receipt: DeliveryReceipt }
  | { readonly to: 'look'; readonly found: Looked }
  | { readonly to: 'prove'; readonly proof: SendingProof }
  | { readonly to: 'record' }

/** What `next` decides by besides the item. */
export interface Facts {
  /** Ms since the epoch; may jump. */
  readonly now: number
  /** `clock.elapsed()`. */
  readonly elapsed: number
  readonly settings: DeliverySettings
  /** In [0, 1). */
  readonly random: number
  /** There is an adapter that takes calls. */
  readonly ready: boolean
  /**
   * The adapter finds its own messages again, and a call with the same key within this time of the first gives the
   * first message; ms. Undefined: it cannot tell.
   */
  readonly sameKeyWindowMs: number | undefined
  /** The adapter can be asked whether a message would arrive now. */
  readonly provesSending: boolean
  /** When the last writing call of the account that succeeded was begun. */
  readonly wroteAt: number | undefined
  /** The conversation followed its chat to a new address already. */
  readonly moved: boolean
  readonly answer?: Answer | undefined
}
