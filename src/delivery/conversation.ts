import type { Address } from '../core/address.ts'
import type { DeliveryId } from '../core/ids.ts'
import type { Delivery } from '../core/outbound.ts'
import type { Item } from './item.ts'
import type { Queued } from './low-priority.ts'

/** A part in the queue of its conversation, and how far it is. */
export interface Entry extends Queued {
  readonly id: DeliveryId
  item: Item
}

/** Returns the entry of a row, with the row's priority. */
export function entryOf(row: Delivery, item: Item = { kind: 'queued', id: row.id }): Entry {
  const { id, source, lowPriority } = row
  const entry: Entry = { id, source, item, begun: row.state !== 'planned' || row.attempt > 0 }
  return lowPriority === undefined ? entry : { ...entry, lowPriority }
}

/** The parts of one conversation, in the order of `low-priority.ts`. */
export interface Conversation {
  /** The address to which the parts go; it changes when the chat moves. */
  address: Address
  /** True once the platform reported the move at a send; until then the rows know best. */
  followed?: true
  readonly entries: Entry[]
}

/** The first part of a conversation. */
export interface Head {
  readonly entry: Entry
  readonly conversation: Conversation
}
