import type { SendingProof } from '../channels/capabilities.ts'
import type { Address } from '../core/address.ts'
import type { DeliveryId } from '../core/ids.ts'
import type { Delivery, DeliveryReceipt, DeliveryState } from '../core/outbound.ts'
import type { DeliverySettings } from './settings.ts'

/**
 * One part of a message on its way. Each state has what is known in it and nothing else; `next` decides what follows
 * (README.md has every transition). Times are those of `clock.elapsed()`, which nobody sets.
 */
export type Item =
  /** The part waits in its conversation; only its id is kept. */
  | { readonly kind: 'queued'; readonly id: DeliveryId }
  /** The part is first in its conversation: no call is under way, and it may go at `notBefore`. */
  | { readonly kind: 'due'; readonly row: Delivery; readonly expiresAt: number; readonly notBefore: number }
  /** A slot of the account comes at `slotAt`; then `sending` is committed. */
  | Reserved
  /** `sending` is committed: the call to the platform is next, or under way. */
  | Sending
  /** A call was made and its outcome is unknown. */
  | Uncertain
  /** The outcome is known and not on disk yet; `after` is the state that follows. */
  | Recording
  | { readonly kind: 'ended' }

export interface Reserved {
  readonly kind: 'reserved'
  readonly row: Delivery
  readonly expiresAt: number
  readonly slotAt: number
  readonly as: Attempt
  /** The item before this call, if the outcome of an earlier call is unknown. */
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
  /** The platform's answer when it was asked for the message. */
  readonly looked?: { readonly found: Looked; readonly at: number }
  /** The platform's answer when it was asked whether a message would arrive now. */
  readonly proven?: { readonly proof: SendingProof; readonly at: number; readonly tries: number }
}

export interface Recording {
  readonly kind: 'recording'
  readonly id: DeliveryId
  readonly row?: Delivery
  readonly change: Change
  readonly after: Item
  /** The platform accepts nothing more in this chat for this long. */
  readonly pauseMs?: number
  /** The chat's new address. */
  readonly movedTo?: Address
  /** The place it was sent to without its topic, thread or post, which were refused: what follows goes there. */
  readonly sentTo?: Address
  /** True if the topic or thread was refused, which nobody reads of there. */
  readonly stranded?: true
}

/**
 * The relation of a call to the one before it. `first`: nothing can have arrived yet. `again`: the same call under the
 * same key, which the platform keeps once. `anew`: the earlier call is known to have failed, or may safely be done
 * twice. `repeat`: a second message to people, marked as one.
 */
export type Attempt = 'first' | 'again' | 'anew' | 'repeat'

/** The platform's answer when it was asked for a message; a message of another row does not count. */
export type Looked =
  /** `outdated` is true if it shows an earlier text. */
  | { readonly kind: 'found'; readonly messageId: string; readonly outdated: boolean }
  | { readonly kind: 'absent' }
  /** With `retryAfterMs` the answer may be known later. */
  | { readonly kind: 'cannot_tell'; readonly reason: string; readonly retryAfterMs?: number }

/** A call whose outcome is unknown. */
export interface Loss {
  /** The time at which the outcome became unknown, in this process. */
  readonly at: number
  /** The time at which the outcome of a call of this message first became unknown, in this process. */
  readonly since: number
  /** The time at which the first call of this message began, as far as is known. */
  readonly startedAt: number
  /** True if another process made the call, so that no time of this one says how old it is. */
  readonly foreign: boolean
}

/** The change that is written about an item. */
export type Change =
  | {
      readonly kind: 'settle'
      readonly state: DeliveryState
      readonly reason?: string
      readonly messageId?: string
      /** The wait from now, in ms. */
      readonly waitMs?: number
    }
  /** The message to change is gone: the text is sent as a message of its own. */
  | { readonly kind: 'send_anew' }
  /** The platform refused the file: the text is sent without it, with the reason unless the text was to be spoken. */
  | { readonly kind: 'send_text'; readonly reason: string }
  /** The one person it is for cannot be written to alone: where they asked it is said how they get it. */
  | { readonly kind: 'say_where_asked'; readonly reason: string }
  /** The message stands in the chat with an earlier text and is edited. */
  | { readonly kind: 'edit'; readonly messageId: string }

/** The next action for an item; all but the last three have an answer. */
export type Effect =
  /** Reads the item's row. */
  | { readonly do: 'load' }
  /** Takes a slot of chat and account. */
  | { readonly do: 'reserve' }
  /** Asks send policy, and commits `sending`. */
  | { readonly do: 'begin' }
  /** Calls the platform. */
  | { readonly do: 'call' }
  /** Asks the platform whether the message is there. */
  | { readonly do: 'look' }
  /** Asks the platform whether a message to this chat would arrive now. */
  | { readonly do: 'prove' }
  /** Writes the outcome. */
  | { readonly do: 'record' }
  /** Waits until `until`. */
  | { readonly do: 'wait'; readonly until: number }
  /** Waits until the channel is ready. */
  | { readonly do: 'park' }
  /** Removes the item from its conversation. */
  | { readonly do: 'leave' }

/** An effect that has an answer. */
export type Asking = Exclude<Effect, { do: 'wait' | 'park' | 'leave' }>

/** The result of the last effect. */
export type EffectResult =
  | { readonly to: 'load'; readonly row: Delivery | 'unreadable' | undefined }
  /** `later`: there is no slot to book, so ask again at `slotAt`. */
  | { readonly to: 'reserve'; readonly slotAt: number; readonly later: boolean }
  /** Undefined if the row may no longer be sent by this process. */
  | { readonly to: 'begin'; readonly row: Delivery | undefined }
  | { readonly to: 'begin'; readonly denied: string }
  | { readonly to: 'call'; readonly receipt: DeliveryReceipt }
  | { readonly to: 'look'; readonly found: Looked }
  | { readonly to: 'prove'; readonly proof: SendingProof }
  | { readonly to: 'record' }

/** The facts by which `next` decides, besides the item. */
export interface Facts {
  /** The time in ms since the epoch, which may jump. */
  readonly now: number
  /** `clock.elapsed()`. */
  readonly elapsed: number
  readonly settings: DeliverySettings
  /** A number in [0, 1). */
  readonly random: number
  /** True if there is an adapter that accepts calls. */
  readonly ready: boolean
  /**
   * The time in ms after a first call within which a call with the same key returns the first message. Undefined if the
   * adapter cannot find its own messages again.
   */
  readonly sameKeyWindowMs: number | undefined
  /** True if the adapter can be asked whether a message would arrive now. */
  readonly provesSending: boolean
  /** The time at which the account's last successful writing call began. */
  readonly wroteAt: number | undefined
  /** True if the conversation already follows its chat to a new address. */
  readonly moved: boolean
  readonly answer?: EffectResult | undefined
}
