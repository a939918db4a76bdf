import type { Address } from '../core/address.ts'
import type { ChatCommand } from '../core/command.ts'
import type { FetchedFile } from '../core/media.ts'
import type { DeliveryReceipt, OutboundFile, Recipient, RenderedPart } from '../core/outbound.ts'
import type { ThreadPlace, ThreadRead } from '../core/thread.ts'
import type { ChannelAdapter, OutboundPart } from './adapter.ts'

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

/**
 * Puts an emoji on a message of anybody. The same again is success, so that an unknown outcome may be repeated; where
 * the platform takes one reaction of a bot alone, another takes its place.
 */
export interface Reacts {
  react(target: MessageTarget, emoji: string, signal: AbortSignal): Promise<DeliveryReceipt>
}

/** Shows that an answer is being worked on; never queued, never retried, failures are dropped. */
export interface ShowsTyping {
  showTyping(address: Address, signal: AbortSignal): Promise<void>
  /** The time one call stays visible, ms. */
  readonly typingLastsMs: number
}

/** Shows a message to one person alone, whoever else is in the chat. */
export interface AnswersPrivately {
  /**
   * Sends like `send`, to one person alone. A part that cannot be shown so goes to `recipient.otherwise`, and nowhere
   * else.
   */
  answerPrivately(part: PrivatePart, signal: AbortSignal): Promise<DeliveryReceipt>
}

export interface PrivatePart extends OutboundPart {
  readonly recipient: Recipient
  /** 0 for the first part of an answer. */
  readonly partNo: number
}

/** Sends a message with a file. */
export interface SendsFiles {
  /** Sends like `send`; a refusal of the file itself says so (`of`), and nothing was sent then. */
  sendFile(part: FilePart, signal: AbortSignal): Promise<DeliveryReceipt>
}

export interface FilePart extends OutboundPart {
  readonly file: OutboundFile
  readonly bytes: Uint8Array
}

/** Registers the command menu, by difference to what was registered last. */
export interface RegistersCommands {
  /**
   * Called each time the channel came up, with all commands there are. `owners`: platform ids of the owners, for
   * platforms that can show owners' commands to them alone.
   */
  registerCommands(commands: readonly MenuCommand[], owners: readonly string[]): Promise<void>
}

export type MenuCommand = Pick<ChatCommand, 'name' | 'description' | 'args' | 'who'>

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

export function reacts(adapter: ChannelAdapter): adapter is ChannelAdapter & Reacts {
  return 'react' in adapter
}

export function showsTyping(adapter: ChannelAdapter): adapter is ChannelAdapter & ShowsTyping {
  return 'showTyping' in adapter
}

export function answersPrivately(adapter: ChannelAdapter): adapter is ChannelAdapter & AnswersPrivately {
  return 'answerPrivately' in adapter
}

export function sendsFiles(adapter: ChannelAdapter): adapter is ChannelAdapter & SendsFiles {
  return 'sendFile' in adapter
}

export function registersCommands(adapter: ChannelAdapter): adapter is ChannelAdapter & RegistersCommands {
  return 'registerCommands' in adapter
}

/**
 * Can find out after a lost answer whether a message of ours arrived: by the key it carried, or by looking it up in the
 * chat's history. What decides a send of unknown outcome instead of repeating it (src/behaviour/guarantee.md).
 */
export interface FindsOwnMessages {
  /** A send with the same key within this time gives the first message again instead of a second one; 0: never. ms. */
  readonly sameKeyWindowMs: number
  /** `cannot_tell`: the history may not be read, or not far enough; with `retryAfterMs` only for now. */
  findOwn(lost: LostMessage, signal: AbortSignal): Promise<FoundMessage>
}

export interface LostMessage {
  readonly address: Address
  readonly key: string
  readonly rendered: RenderedPart
  /** The content that the message may show instead, if it was sent with another text. */
  readonly earlier?: RenderedPart
  /**
   * The time since the send began, ms. Times of day of two machines are not compared: the search covers this time and a
   * margin, counted back from the newest message the platform shows.
   */
  readonly ageMs: number
}

export type FoundMessage =
  /** All that it may be, the newest first. Which of them belongs to another delivery is the caller's to know. */
  | { readonly kind: 'found'; readonly messages: readonly [OwnMessage, ...OwnMessage[]] }
  | { readonly kind: 'absent' }
  | { readonly kind: 'cannot_tell'; readonly reason: string; readonly retryAfterMs?: number }

export function findsOwnMessages(adapter: ChannelAdapter): adapter is ChannelAdapter & FindsOwnMessages {
  return 'findOwn' in adapter
}

export interface OwnMessage {
  readonly messageId: string
  /** It shows another text than the one that was lost, as a reply that was still growing does. */
  readonly outdated?: boolean
}

/**
 * Can find out without saying anything whether a message to a chat would arrive now. What receives proves nothing about
 * sending: where a lost message cannot be looked for, its one repeat waits for this.
 */
export interface ProvesSending {
  /** Makes a call that writes something nobody keeps, such as the typing indicator. A refusal is an answer too. */
  proveSending(address: Address, signal: AbortSignal): Promise<SendingProof>
}

export interface SendingProof {
  readonly works: boolean
  /** The platform asked for a pause. */
  readonly retryAfterMs?: number
}

export function provesSending(adapter: ChannelAdapter): adapter is ChannelAdapter & ProvesSending {
  return 'proveSending' in adapter
}

/** Can read what was said in a thread, also before the bot was there. */
export interface ReadsThreads {
  /** Never rejects for anything the platform answers. */
  readThread(place: ThreadPlace, signal: AbortSignal): Promise<ThreadRead>
}

export function readsThreads(adapter: ChannelAdapter): adapter is ChannelAdapter & ReadsThreads {
  return 'readThread' in adapter
}

/** Can fetch the files that came with messages. */
export interface FetchesFiles {
  /** Bytes of the largest file that the platform gives to bots. */
  readonly mostFileBytes: number
  /**
   * Never rejects, and reads no more than `most` bytes, whatever the platform says of the size. A secret of the account
   * goes to no other host than the platform's own.
   */
  fetchFile(file: WantedFile, signal: AbortSignal): Promise<FetchedFile>
}

export interface WantedFile {
  /** The opaque reference of an attachment. */
  readonly ref: string
  readonly most: number
}

export function fetchesFiles(adapter: ChannelAdapter): adapter is ChannelAdapter & FetchesFiles {
  return 'fetchFile' in adapter
}
