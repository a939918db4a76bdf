import { amendBackwards } from '../../core/amended.ts'
import { cutText } from '../../core/cut-text.ts'
import type { SessionEvent } from '../../core/event.ts'
import { isLeaving } from '../../core/forgetting.ts'
import type { Session } from '../../core/session.ts'
import type { HistoryMessage } from '../../core/session-tools.ts'
import type { StoreReader } from '../../store/store.ts'
import { messagesOf } from './history-message.ts'

const PAGE = 200

/**
 * Yields a session's events from the newest back, read only as far as they are asked for. The sequence is gapless
 * (C23).
 */
export async function* newestFirst(
  events: Pick<StoreReader['events'], 'since'>,
  { id, lastSeq }: Pick<Session, 'id' | 'lastSeq'>,
): AsyncGenerator<SessionEvent> {
  for (let top = lastSeq; top > 0; top -= PAGE) {
    const from = Math.max(0, top - PAGE)
    yield* (await events.since(id, from, top - from)).toReversed()
  }
}

export interface ReadsMessages {
  readonly events: Pick<StoreReader['events'], 'since'>
  readonly forgetting: Pick<StoreReader['forgetting'], 'leaving'>
}

export interface MessageBounds {
  readonly limit: number
  readonly tools: boolean
  /** The limit of all messages together, as JSON. */
  readonly bytes: number
}

export interface NewestMessages {
  /** The messages, in order. */
  readonly messages: readonly HistoryMessage[]
  /** True if older messages were left out for their size. */
  readonly truncated: boolean
}

/**
 * Returns the newest messages of a session that fit, as edited since, without deleted ones and those that are
 * forgotten, by now or once a turn has ended. The limit counts the messages shown, not the events passed over.
 */
export async function newestMessages(
  read: ReadsMessages,
  session: Pick<Session, 'id' | 'lastSeq'>,
  { limit, tools, bytes }: MessageBounds,
): Promise<NewestMessages> {
  const messages: HistoryMessage[] = []
  if (limit === 0) return { messages, truncated: false }
  let left = bytes
  for await (const message of messagesBack(read, session, tools)) {
    const size = sizeOf(message)
    if (size > left) {
      if (messages.length === 0) messages.push(cutTo(message, left))
      return { messages: messages.toReversed(), truncated: true }
    }
    left -= size
    messages.push(message)
    if (messages.length === limit) break
  }
  return { messages: messages.toReversed(), truncated: false }
}

/** Yields the messages of a session from the newest back, as edited since and without deleted ones. */
async function* messagesBack(
  { events, forgetting }: ReadsMessages,
  session: Pick<Session, 'id' | 'lastSeq'>,
  tools: boolean,
): AsyncGenerator<HistoryMessage> {
  const amend = amendBackwards()
  const leaving = await forgetting.leaving(session.id)
  for await (const event of newestFirst(events, session)) {
    const current = amend(event)
    if (current && !isLeaving(current, leaving)) yield* messagesOf(current, tools).toReversed()
  }
}

/** The most bytes a UTF-16 unit takes: three in UTF-8, and six where JSON escapes it. */
const BYTES_PER_UNIT = 6

/** Returns the beginning of a message that is too large by itself, and never half a character. */
function cutTo(message: HistoryMessage, bytes: number): HistoryMessage {
  const room = Math.max(0, bytes - sizeOf({ ...message, text: '' }))
  const kept = cutText(message.text, Math.floor(room / BYTES_PER_UNIT))
  return { ...message, text: `${kept}\n[cut: ${message.text.length - kept.length} more characters]` }
}

function sizeOf(message: HistoryMessage): number {
  return Buffer.byteLength(JSON.stringify(message))
}
