import type { WaitOptions } from '../ledger.ts'
import { Ledger } from '../ledger.ts'
import type { ApiMessage } from './api-types.ts'

/** One Web API call, recorded when its effect (or refusal) stands, before the first byte of the answer. */
export interface CallEntry {
  readonly kind: 'call'
  readonly at: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** The server's answer, or the one without the fault; absent when the fault came before the effect. */
  readonly answer?: Readonly<Record<string, unknown>> & { readonly ok: boolean }
  readonly fault?: string
}

/** A change of a message, by a person or by the app's bot. */
export interface MessageEntry {
  readonly kind: 'message'
  readonly at: number
  readonly change: 'sent' | 'edited' | 'deleted'
  readonly byBot: boolean
  readonly channel: string
  /** The thread it is a reply in, or null in the channel itself. */
  readonly thread: string | null
  readonly ts: string
  /** The text as the platform keeps it: escaped, with its markup. */
  readonly text: string
  /** The ids that the text notifies: users, `!channel`, `!here`, `!everyone`, `!subteam…`. */
  readonly pings: readonly string[]
  readonly message: ApiMessage
}

/** A text that the bot showed to one person alone in a conversation. */
export interface WhisperEntry {
  readonly kind: 'whisper'
  readonly at: number
  readonly userId: string
  readonly channel: string
  readonly thread: string | null
  readonly text: string
}

/** A slash command; `failed` if the person was notified that it failed. */
export interface SlashEntry {
  readonly kind: 'slash'
  readonly at: number
  readonly step: 'sent' | 'acknowledged' | 'failed'
  readonly command: string
  readonly text: string
  readonly userId: string
  readonly channel: string
  readonly reason?: string
}

/** An event on its way to the app. */
export interface EventEntry {
  readonly kind: 'event'
  readonly at: number
  readonly step: 'offered' | 'delivered' | 'confirmed' | 'given_up'
  readonly eventId: string
  readonly type: string
  /** The channel and ts of its message, if it has them. */
  readonly channel?: string
  readonly ts?: string
  /** The number of deliveries so far. */
  readonly times: number
  /** The socket or `http` by which it was sent. */
  readonly by?: string
}

export interface WithheldEntry {
  readonly kind: 'withheld'
  readonly at: number
  readonly reason: 'not_subscribed' | 'not_member'
  readonly type: string
}

/** The life of a socket; `ready` is when hello was sent to it. */
export interface SocketEntry {
  readonly kind: 'socket'
  readonly at: number
  readonly id: string
  /** `pinged`: the client asked whether this end is alive. */
  readonly change: 'ready' | 'pinged' | 'told_to_go' | 'closed'
  readonly reason?: string
}

export interface UnrehearsedEntry {
  readonly kind: 'unrehearsed'
  readonly at: number
  readonly what: string
}

export type SlackEntry =
  | CallEntry
  | MessageEntry
  | WhisperEntry
  | SlashEntry
  | EventEntry
  | WithheldEntry
  | SocketEntry
  | UnrehearsedEntry

/** The ledger of a Slack rehearsal, with the waits tests need most. */
export class SlackLedger extends Ledger<SlackEntry> {
  constructor() {
    super(describeEntry)
  }

  calls(method: string, after?: number): CallEntry[] {
    return this.all((entry): entry is CallEntry => entry.kind === 'call' && entry.method === method, after)
  }

  nextCall(method: string, options?: WaitOptions): Promise<CallEntry> {
    return this.next((entry): entry is CallEntry => entry.kind === 'call' && entry.method === method, options)
  }

  /** Waits for a message that the bot sent, edited or deleted. */
  nextFromBot(
    change: MessageEntry['change'],
    options?: WaitOptions & { where?: (entry: MessageEntry) => boolean },
  ): Promise<MessageEntry> {
    const where = options?.where
    const match = (entry: SlackEntry): entry is MessageEntry =>
      entry.kind === 'message' && entry.byBot && entry.change === change && (where === undefined || where(entry))
    return this.next(match, options)
  }

  /** Returns the texts that were shown to people alone, oldest first. */
  whispers(after?: number): WhisperEntry[] {
    return this.all((entry): entry is WhisperEntry => entry.kind === 'whisper', after)
  }

  nextWhisper(options?: WaitOptions): Promise<WhisperEntry> {
    return this.next((entry): entry is WhisperEntry => entry.kind === 'whisper', options)
  }

  /** Waits until a slash command was acknowledged, or was not in time. */
  nextSlash(step: SlashEntry['step'], options?: WaitOptions): Promise<SlashEntry> {
    return this.next((entry): entry is SlashEntry => entry.kind === 'slash' && entry.step === step, options)
  }

  /** Returns the bot's messages so far, oldest first. */
  fromBot(after?: number): MessageEntry[] {
    return this.all((entry): entry is MessageEntry => entry.kind === 'message' && entry.byBot, after)
  }

  /** Waits until every event about this message was acknowledged. */
  async confirmed(ts: string, options?: WaitOptions): Promise<void> {
    if (this.isConfirmed(ts)) return
    await this.next(() => this.isConfirmed(ts), { ...options, after: this.mark() })
  }

  isConfirmed(ts: string): boolean {
    const steps = (step: EventEntry['step']) =>
      this.count((entry) => entry.kind === 'event' && entry.step === step && entry.ts === ts)
    return steps('offered') > 0 && steps('confirmed') >= steps('offered')
  }

  /** Waits until a socket was greeted. */
  nextSocket(options?: WaitOptions): Promise<SocketEntry> {
    return this.next((entry): entry is SocketEntry => entry.kind === 'socket' && entry.change === 'ready', options)
  }
}

function describeEntry(entry: SlackEntry): string {
  switch (entry.kind) {
    case 'call': {
      const answer = entry.answer === undefined ? 'without effect' : String(entry.answer.error ?? 'ok')
      const fault = entry.fault === undefined ? '' : ` [fault: ${entry.fault}]`
      return `call ${entry.method} ${answer}${fault} ${JSON.stringify(entry.params).slice(0, 100)}`
    }
    case 'message':
      return `message ${entry.change} by ${entry.byBot ? 'the bot' : 'a person'} in ${entry.channel}/${entry.thread ?? '-'} #${entry.ts}: ${entry.text.slice(0, 100)}`
    case 'whisper':
      return `whisper to ${entry.userId} in ${entry.channel}/${entry.thread ?? '-'}: ${entry.text.slice(0, 100)}`
    case 'slash':
      return `slash ${entry.command} ${entry.text.slice(0, 50)} by ${entry.userId} ${entry.step} ${entry.reason ?? ''}`
    case 'event':
      return `event ${entry.eventId} ${entry.type} ${entry.step} by ${entry.by ?? '-'} (${entry.times})`
    case 'withheld':
      return `event withheld (${entry.reason}): ${entry.type}`
    case 'socket':
      return `socket ${entry.id} ${entry.change} ${entry.reason ?? ''}`
    case 'unrehearsed':
      return `not rehearsed: ${entry.what}`
  }
}
