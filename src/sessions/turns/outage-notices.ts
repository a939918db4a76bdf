import { LRUCache } from 'lru-cache'
import { conversationOf } from '../../core/address.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { TurnId } from '../../core/ids.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StartedTurn } from './started-turn.ts'

/**
 * Returns the message of a turn's end, or undefined for one that only repeats that the model cannot be reached: a
 * place of a conversation is notified once, until the model answers again or five minutes have passed.
 */
export type OutageNotices = (
  turn: Pick<StartedTurn, 'id' | 'session' | 'reply'>,
  result: TurnResult,
  message: OutboundMessage | undefined,
) => OutboundMessage | undefined

/** Failures that the next message would meet as well. */
const OUTAGES: readonly ErrorCode[] = [
  'model_overloaded',
  'model_stalled',
  'model_failed',
  'model_auth',
  'model_no_credit',
  'model_unconfigured',
]
/** After this time a line says again what the matter is: nobody looks further back. */
const QUIET_MS = 300_000
const MOST_PLACES = 10_000

/** In memory: after a start a conversation is notified once more. */
export function createOutageNotices(clock: { now(): number }): OutageNotices {
  const notified = new LRUCache<string, { readonly at: number; readonly turn: TurnId }>({ max: MOST_PLACES })
  return ({ id: turn, session, reply }, result, message) => {
    // People of other chats of the session have not read a line that stands in one of them.
    const place = `${session.id} ${conversationOf(reply.address)}`
    if (result.kind !== 'failed' || !OUTAGES.includes(result.code)) {
      if (result.kind === 'final') notified.delete(place)
      return message
    }
    // A part of an answer stands in the chat: a line below it says that no more comes.
    if (message === undefined || result.shown !== undefined) return message
    const at = clock.now()
    const last = notified.get(place)
    // The end of one turn may be stored in several attempts.
    if (last !== undefined && last.turn !== turn && at >= last.at && at - last.at < QUIET_MS) return undefined
    if (last?.turn !== turn) notified.set(place, { at, turn })
    return message
  }
}
