import type { Address } from '../core/address.ts'
import type { DeliveryId } from '../core/ids.ts'
import type { Item } from './item.ts'
import type { Queued } from './low-priority.ts'

/** A part in the queue of its conversation, and how far it is. */
export interface Entry extends Queued {
  readonly id: DeliveryId
  item: Item
  /** It waits for a slot that nobody else wants. */
  yielding?: boolean | undefined
}

/** One conversation's parts, first in first out. */
export interface Conversation {
  /** Where its parts go; a chat that moved takes them along. */
  address: Address
  /** The platform told of the move at a send; until then the rows know best. */
  followed?: true
  readonly entries: Entry[]
}

/** The first part of a conversation. */
export interface Head {
  readonly entry: Entry
  readonly conversation: Conversation
}
