import type { WaitOptions } from '../ledger.ts'
import { Ledger } from '../ledger.ts'
import type { UploadedFile } from '../uploads.ts'
import type { ApiMessage } from './api-types.ts'

/** One API call, recorded when its effect (or refusal) stands, before the first byte of the answer. */
export interface CallEntry {
  readonly kind: 'call'
  readonly at: number
  readonly botId: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** The server's answer, or the one without the fault; absent when the fault came before the effect. */
  readonly answer?: CallAnswer
  /** The kind of the fault the call met. */
  readonly fault?: string
}

export type CallAnswer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false
      readonly error_code: number
      readonly description: string
      readonly parameters?: { retry_after?: number; migrate_to_chat_id?: number }
    }

/** A change of a message in a chat, by a person or by a bot. */
export interface MessageEntry {
  readonly kind: 'message'
  readonly at: number
  readonly change: 'sent' | 'edited' | 'deleted'
  /** The bot that did it, or null for a person. */
  readonly botId: number | null
  readonly chatId: number
  /** The forum topic, or null in no forum, or in its General topic. */
  readonly topic: number | null
  readonly messageId: number
  /** The text, or the caption of its file. */
  readonly text: string
  readonly message: ApiMessage
  /** The file that a bot has sent with it. */
  readonly file?: UploadedFile
}

/**
 * An update on its way: queued for the bot, withheld from it, handed out, confirmed by a higher offset or the answer of
 * a webhook, or refused by it.
 */
export type UpdateEntry =
  | {
      readonly kind: 'offered'
      readonly at: number
      readonly botId: number
      readonly updateId: number
      readonly type: string
      /** The object under the update's type, which the driver returned; null for raw ones. */
      readonly payload: object | null
    }
  | {
      readonly kind: 'withheld'
      readonly at: number
      readonly botId: number
      readonly reason: WithheldReason
      readonly type: string
    }
  | {
      readonly kind: 'delivered'
      readonly at: number
      readonly botId: number
      readonly updateId: number
      readonly times: number
    }
  | { readonly kind: 'confirmed'; readonly at: number; readonly botId: number; readonly updateId: number }
  | {
      readonly kind: 'undelivered'
      readonly at: number
      readonly botId: number
      readonly updateId: number
      readonly why: string
    }

export type WithheldReason = 'privacy' | 'not_member' | 'not_allowed'

/** A getUpdates that waits for updates: the bot is listening now. */
export interface PollEntry {
  readonly kind: 'poll'
  readonly at: number
  readonly botId: number
  readonly offset: number
  readonly timeoutSeconds: number
}

/** A request for something the server does not rehearse (a file upload, MarkdownV2, an unknown method). */
export interface UnrehearsedEntry {
  readonly kind: 'unrehearsed'
  readonly at: number
  readonly what: string
}

export type TelegramEntry = CallEntry | MessageEntry | UpdateEntry | PollEntry | UnrehearsedEntry

/** The ledger of a Telegram rehearsal, with the waits tests need most. */
export class TelegramLedger extends Ledger<TelegramEntry> {
  constructor() {
    super(describeEntry)
  }

  /** Returns every recorded call of one method. */
  calls(method: string, after?: number): CallEntry[] {
    return this.all(isCall(method), after)
  }

  /** Waits for a call of `method`; it resolves once the effect stands, even while its answer is held back. */
  nextCall(method: string, options?: WaitOptions & { where?: (call: CallEntry) => boolean }): Promise<CallEntry> {
    const where = options?.where
    const named = isCall(method)
    const match = (entry: TelegramEntry): entry is CallEntry => named(entry) && (where === undefined || where(entry))
    return this.next(match, options)
  }

  /** Waits for a message that a bot sent, edited or deleted. */
  nextFromBot(
    change: MessageEntry['change'],
    options?: WaitOptions & { where?: (entry: MessageEntry) => boolean },
  ): Promise<MessageEntry> {
    const where = options?.where
    const match = (entry: TelegramEntry): entry is MessageEntry =>
      entry.kind === 'message' &&
      entry.botId !== null &&
      entry.change === change &&
      (where === undefined || where(entry))
    return this.next(match, options)
  }

  /**
   * Returns the id of the (last) update that carries the object which the driver returned from `say` or `edit`.
   * @throws Error when it was withheld from every bot
   */
  updateIdOf(message: object): number {
    const offered = this.entries.findLast((entry) => entry.kind === 'offered' && entry.payload === message)
    if (offered?.kind !== 'offered') throw new Error('No update carries this message; see the withheld entries.')
    return offered.updateId
  }

  /** Waits until this update was confirmed by a higher offset. */
  async confirmed(updateId: number, options?: WaitOptions): Promise<void> {
    await this.next((entry) => entry.kind === 'confirmed' && entry.updateId === updateId, options)
  }

  /** Waits until a bot is in a long poll. */
  async listening(options?: WaitOptions): Promise<void> {
    await this.next((entry) => entry.kind === 'poll', options)
  }
}

function isCall(method: string): (entry: TelegramEntry) => entry is CallEntry {
  return (entry): entry is CallEntry => entry.kind === 'call' && entry.method === method
}

function describeEntry(entry: TelegramEntry): string {
  switch (entry.kind) {
    case 'call':
      return `call ${entry.method} ${describeAnswer(entry)} ${shorten(JSON.stringify(entry.params))}`
    case 'message':
      return `message ${entry.change} by ${entry.botId ?? 'a person'} in ${entry.chatId}/${entry.topic ?? '-'} #${entry.messageId}: ${shorten(entry.text)}`
    case 'withheld':
      return `update withheld (${entry.reason}): ${entry.type}`
    case 'offered':
    case 'delivered':
    case 'confirmed':
      return `update ${entry.updateId} ${entry.kind}`
    case 'undelivered':
      return `update ${entry.updateId} not taken by the webhook: ${entry.why}`
    case 'poll':
      return `poll from offset ${entry.offset} for ${entry.timeoutSeconds} s`
    case 'unrehearsed':
      return `not rehearsed: ${entry.what}`
  }
}

function describeAnswer(entry: CallEntry): string {
  const fault = entry.fault === undefined ? '' : ` [fault: ${entry.fault}]`
  if (entry.answer === undefined) return `without effect${fault}`
  return (entry.answer.ok ? 'ok' : `${entry.answer.error_code} ${entry.answer.description}`) + fault
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
