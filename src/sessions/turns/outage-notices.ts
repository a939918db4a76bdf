import { LRUCache } from 'lru-cache'
import { conversationOf } from '../../core/address.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { TurnId } from '../../core/ids.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import { senderKey } from '../../core/platform-id.ts'
import type { TurnResult } from '../../core/turn.ts'
import type { StartedTurn } from './started-turn.ts'
import { hasNoModel } from './turn-reply.ts'

/**
 * Returns the message of a turn's end, or undefined for one that only repeats that the model cannot be reached: a
 * place of a conversation is notified of each failure of a model once, until a model answers again or five minutes have
 * passed.
 */
export type OutageNotices = (
  turn: Pick<StartedTurn, 'id' | 'session' | 'reply' | 'asked'>,
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
const MOST_MATTERS = 100

type Failed = Extract<TurnResult, { kind: 'failed' }>

interface Told {
  readonly at: number
  readonly turn: TurnId
}

/** In memory: after a start a conversation is notified once more. */
export function createOutageNotices(clock: { now(): number }): OutageNotices {
  const notified = new LRUCache<string, Map<string, Told>>({ max: MOST_PLACES })
  return (turn, result, message) => {
    // People of other chats of the session have not read a line that stands in one of them.
    const place = `${turn.session.id} ${conversationOf(turn.reply.address)}`
    if (result.kind !== 'failed' || !OUTAGES.includes(result.code)) {
      if (result.kind === 'final') notified.delete(place)
      return message
    }
    if (message === undefined || isSaidAgain(turn, result)) return message
    const at = clock.now()
    const told = notified.get(place) ?? new Map<string, Told>()
    notified.set(place, told)
    const matter = matterOf(turn, result)
    const last = told.get(matter)
    if (last !== undefined && repeats(last, { turn: turn.id, at })) return undefined
    if (last?.turn !== turn.id) remember(told, matter, { at, turn: turn.id })
    return message
  }
}

function isSaidAgain({ reply }: Pick<StartedTurn, 'reply'>, result: Failed): boolean {
  // A part of an answer stands in the chat: a line below it says that no more comes.
  if (result.shown !== undefined) return true
  // Whoever sets it up writes again once they have changed something; nobody else reads the answer.
  return hasNoModel(result) && reply.address.chatType === 'direct'
}

function remember(told: Map<string, Told>, matter: string, now: Told): void {
  told.set(matter, now)
  const [oldest] = told.keys()
  if (told.size > MOST_MATTERS && oldest !== undefined) told.delete(oldest)
}

/** Whoever has changed a setting reads that something else is wrong now. */
function matterOf({ reply, asked }: Pick<StartedTurn, 'reply' | 'asked'>, result: Failed): string {
  // While there is no model, each of several people who ask gets the line.
  const asker = hasNoModel(result) && asked?.sender ? senderKey(reply.address.channel, asked.sender) : ''
  return `${result.code} ${result.model} ${asker}`
}

/** The end of one turn may be stored in several attempts. A clock may have been set back. */
function repeats(last: Told, now: Told): boolean {
  return last.turn !== now.turn && now.at >= last.at && now.at - last.at < QUIET_MS
}
