import type { Address } from './address.ts'
import type { DeliveryId, MediaId, PersonId, SessionId, SourceId, TraceId } from './ids.ts'
import type { QuotedName, Quoting } from './quoting.ts'
import type { Session } from './session.ts'

/**
 * `reply` answers a person: an unknown outcome is re-sent once, marked. `effect` has side effects elsewhere (cross-chat
 * sends, announcements): an unknown outcome is never re-sent. `control` answers a control command and is exempt from
 * send policy. `notice` is a calm line about a failure. (T27)
 */
export type DeliveryClass = 'reply' | 'effect' | 'control' | 'notice'

/**
 * The one person a message is for; where the platform can, nobody else in the chat sees it (`AnswersPrivately`).
 * `otherwise`: where it goes if not. `here`: into the chat like any answer. `direct`: to their direct chat, and nowhere
 * if there is none.
 */
export interface Recipient {
  /** Platform id. */
  readonly id: string
  /** The platform's own way to answer what they did, from the command's `answerBy`; opaque to all but the adapter. */
  readonly handle?: string
  readonly otherwise: 'here' | 'direct'
}

/** A button below a message. Whoever presses it gives its command, with their own authority and nobody else's. */
export interface Button {
  readonly label: string
  /** `/name arguments`, at most 64 bytes, as much as every platform carries. */
  readonly command: string
}

/** The one person something is meant for, as they were when it was asked for. */
export interface Reader {
  readonly platformId: string
  /** Absent for somebody who was nobody we know. */
  readonly person?: PersonId
  /** They were an owner, and may be shown what an owner may. */
  readonly owner?: true
}

/** A file on its way out. Its bytes stay in the media store for as long as a row that has not ended names it. */
export interface OutboundFile {
  readonly media: MediaId
  /** The name that people see, never a path. */
  readonly name: string
  /** The type by its content. */
  readonly mime: string
  /** Bytes. */
  readonly size: number
  /**
   * `picture`: shown in the chat where the platform can. `voice`: the text of its part, spoken; the text itself is sent
   * where the platform refuses the file.
   */
  readonly as: 'document' | 'picture' | 'voice'
}

/**
 * A text that a stage wants sent: Markdown, not yet split or stripped. It leaves only through the one exit, `delivery`.
 */
export interface OutboundMessage {
  readonly source: SourceId
  /** The session it speaks for; the send policy at the exit asks for its keys. Absent for what speaks for none. */
  readonly session?: Pick<Session, 'id' | 'scopeKey' | 'displayKey' | 'kind' | 'scope'>
  /** Absent where it is meant for several people. Nothing is said to somebody who is another by then (`isParted`). */
  readonly reader?: Reader
  readonly traceId: TraceId
  readonly address: Address
  readonly class: DeliveryClass
  readonly text: string
  /** Somebody's words in the text, of which it keeps nothing once they are forgotten. */
  readonly quoting?: Quoting
  /** Sent with the text as its caption, which may be empty then. */
  readonly file?: OutboundFile
  /** Platform id of the message this answers; an adapter shows it where several people talk. */
  readonly replyTo?: string
  readonly only?: Recipient
  /** Shown below the last part, where the platform shows buttons; the text names the same commands. */
  readonly buttons?: readonly Button[]
  /**
   * Absent: the text takes the place of what its turn has shown while it was written. Present: it goes below that,
   * which is completed to `shown`; without `shown` it is left as it is.
   */
  readonly below?: { readonly shown?: string }
  /** Without a sound, where the platform can. */
  readonly silent?: true
  /** Everything else goes first. Absent: it is sent in its turn. */
  readonly lowPriority?: LowPriority
}

/** Marks a part of low priority; the order is defined in `delivery/low-priority.ts`. */
export interface LowPriority {
  /** Somebody known asked for it: it goes ahead of everything that people caused whom nobody let in by name. */
  readonly known?: true
  /**
   * The person it answers, by platform id: of the messages that wait for one person in a conversation only the newest
   * few are sent. Absent: it is sent in any case.
   */
  readonly supersedes?: string
}

/** One message as the platform will take it. */
export interface RenderedPart {
  /** The platform's markup. */
  readonly text: string
  /** The same content without markup: sent once instead when the platform refuses to parse `text`. */
  readonly plain: string
  readonly markup: 'html' | 'markdown' | 'mrkdwn' | 'plain'
  readonly buttons?: readonly Button[]
  /** The same without the words of somebody that it quotes: it takes its place once they are forgotten. */
  readonly quoting?: Pick<RenderedPart, 'text' | 'plain'> & { readonly of: QuotedName }
  /** The text is its caption, or what it says (`voice`). */
  readonly file?: OutboundFile
  readonly silent?: true
}

/** `edit` and `delete` act on `messageId`; both are idempotent, so an unknown outcome is simply repeated. */
export type DeliveryOp = 'send' | 'edit' | 'delete'

const DELIVERY_ENDINGS = ['sent', 'resent', 'rejected', 'given_up', 'expired'] as const
export const DELIVERY_STATES = ['planned', 'sending', 'waiting', 'uncertain', ...DELIVERY_ENDINGS] as const

/** A part as its row has it (`src/delivery/README.md`): while something is owed, and how it ended. */
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * The final state of a part. `resent`: sent a second time, visibly marked as a repeat. `rejected`: the platform refused
 * it. `given_up`: nobody can say that it arrived. `expired`: it was never sent.
 */
export type DeliveryEnding = (typeof DELIVERY_ENDINGS)[number]

const ENDINGS: ReadonlySet<string> = new Set(DELIVERY_ENDINGS)

/** Returns true for a state after which nothing of a part is sent any more. */
export function hasEnded(state: DeliveryState): state is DeliveryEnding {
  return ENDINGS.has(state)
}

/** A part that did not arrive, or of which nobody can say that it did. */
export interface Undelivered {
  readonly state: Exclude<DeliveryEnding, 'sent' | 'resent'>
  readonly reason: string
}

/** One outbox row: one part of one outbound message. Times are ms since the epoch. */
export interface Delivery {
  readonly id: DeliveryId
  /** Unique with `partNo`: one final per turn is enforced by the store. */
  readonly source: SourceId
  readonly partNo: number
  readonly sessionId?: SessionId
  readonly traceId: TraceId
  readonly address: Address
  readonly class: DeliveryClass
  readonly op: DeliveryOp
  readonly part: RenderedPart
  /** The content of the growing reply's lost call, where `part` is the whole by now: the message may show either. */
  readonly earlier?: RenderedPart
  readonly replyTo?: string
  readonly only?: Recipient
  readonly reader?: Reader
  readonly lowPriority?: LowPriority
  readonly state: DeliveryState
  /** Real attempts; waiting for an adapter or a limit is none. */
  readonly attempt: number
  readonly ownerEpoch: number
  readonly notBefore?: number
  readonly expiresAt: number
  readonly startedAt?: number
  /** The platform's id once sent; for `edit` and `delete` the message acted on. */
  readonly messageId?: string
  readonly reason?: string
}

/**
 * The result of a send; adapters never throw for it. `not_sent`: provably nothing was sent, so a retry is safe.
 * `rejected`: the platform refused; permanent unless `retryAfterMs`. `of`: it refused the file, or the topic or thread,
 * not the message. `unknown`: a failure after the first body byte without a readable answer; never blindly repeated.
 */
export type DeliveryReceipt =
  | {
      readonly kind: 'sent'
      readonly messageId: string
      /** The place it was sent to, where the platform refused the topic, thread or post it was meant for. */
      readonly address?: Address
    }
  | { readonly kind: 'not_sent'; readonly reason: string }
  | {
      readonly kind: 'rejected'
      readonly reason: string
      readonly retryAfterMs?: number
      readonly movedTo?: Address
      readonly of?: 'file' | 'topic'
    }
  | { readonly kind: 'unknown'; readonly reason: string }

/** The reasons of a part about which an operator has decided. */
export const DECIDED = {
  dropped: 'an operator has dropped it',
  discarded: 'held after the database was put back, and discarded by an owner',
} as const

/** Returns true if nobody has to look at a part any more, whether or not it arrived. */
export function isDecided({ reason }: { readonly reason?: string }): boolean {
  return reason === DECIDED.dropped || reason === DECIDED.discarded
}
