import { LRUCache } from 'lru-cache'
import { conversationOf } from '../../core/address.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { TurnId } from '../../core/ids.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StartedTurn } from './started-turn.ts'

/**
 * Returns the message of a turn's end, or undefined for one that only repeats that the model cannot be reached: a
 * place of a conversation is notified of each failure of a model once, until a model answers again or five minutes have
 * passed.
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

interface Told {
  readonly at: number
  readonly turn: TurnId
}

/** In memory: after a start a conversation is notified once more. */
export function createOutageNotices(clock: { now(): number }): OutageNotices {
  const notified = new LRUCache<string, Map<string, Told>>({ max: MOST_PLACES })
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
    const told = notified.get(place) ?? new Map<string, Told>()
    notified.set(place, told)
    // Whoever has changed a setting reads that something else is wrong now.
    const matter = `${result.code} ${result.model}`
    const last = told.get(matter)
    if (last !== undefined && repeats(last, { turn, at })) return undefined
    if (last?.turn !== turn) told.set(matter, { at, turn })
    return message
  }
}

/** The end of one turn may be stored in several attempts. A clock may have been set back. */
function repeats(last: Told, now: Told): boolean {
  return last.turn !== now.turn && now.at >= last.at && now.at - last.at < QUIET_MS
}
