import type { Address } from '../core/address.ts'
import type { ChatCommand } from '../core/command.ts'
import type { DeliveryReceipt, RenderedPart } from '../core/outbound.ts'
import type { ChannelAdapter } from './adapter.ts'

/** Replaces one of our messages. The same text again is success. Idempotent, hence `unknown` may be repeated. */
export interface EditsMessages {
  edit(target: MessageTarget, rendered: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt>
  /** Shortest time between two edits of a message in this chat, ms (Telegram: 1 s private, 3 s groups). */
  editIntervalMs(address: Address): number
}

/** Removes one of our messages; one that is already gone is success. */
export interface DeletesMessages {
  delete(target: MessageTarget, signal: AbortSignal): Promise<DeliveryReceipt>
}

/** Shows that an answer is being worked on; never queued, never retried, failures are dropped. */
export interface ShowsTyping {
  showTyping(address: Address, signal: AbortSignal): Promise<void>
  /** How long one call shows, ms. */
  readonly typingLastsMs: number
}

/** Registers the command menu, by difference to what was registered last. */
export interface RegistersCommands {
  registerCommands(commands: readonly Pick<ChatCommand, 'name' | 'description'>[]): Promise<void>
}

export interface MessageTarget {
  readonly address: Address
  readonly messageId: string
}

export function editsMessages(adapter: ChannelAdapter): adapter is ChannelAdapter & EditsMessages {
  return 'edit' in adapter
}

export function deletesMessages(adapter: ChannelAdapter): adapter is ChannelAdapter & DeletesMessages {
  return 'delete' in adapter
}

export function showsTyping(adapter: ChannelAdapter): adapter is ChannelAdapter & ShowsTyping {
  return 'showTyping' in adapter
}

export function registersCommands(adapter: ChannelAdapter): adapter is ChannelAdapter & RegistersCommands {
  return 'registerCommands' in adapter
}
