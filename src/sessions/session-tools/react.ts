import { type Address, formatAddress, isSameChat } from '../../core/address.ts'
import { saidHere } from '../../core/amended.ts'
import { ParleyError } from '../../core/errors.ts'
import type { DeliveryReceipt, OutboundMessage } from '../../core/outbound.ts'
import type { PutsReactions, WantedReaction } from '../../core/reaction.ts'
import { isOwnChannel, type Session } from '../../core/session.ts'
import type { TurnRef } from '../../core/session-tools.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Turn } from '../../store/turn-port.ts'

/** A message of somebody else, with the session that speaks and the reader by whom the exit judges. */
export interface ReactionTarget extends Pick<OutboundMessage, 'address' | 'session' | 'reader'> {
  readonly messageId: string
}

/** The end of it: as of a send, or refused before: by policy, or by a channel that has no reactions or is down. */
export type ReactionOutcome =
  | DeliveryReceipt
  | { readonly kind: 'denied'; readonly because: string }
  | { readonly kind: 'without' | 'down' }

export interface ReactDeps {
  readonly read: StoreReader
  put(this: void, target: ReactionTarget, emoji: string, signal: AbortSignal): Promise<ReactionOutcome>
}

/** Messages that are looked through for the words of one. */
const LOOKED_THROUGH = 200

export function createReactions({ read, put }: ReactDeps): PutsReactions {
  return {
    async react(wanted, turn, signal) {
      const [session, row] = await Promise.all([read.sessions.get(turn.sessionId), read.turns.get(turn.id)])
      if (session === undefined || row === undefined || isOwnChannel(session) || row.reply.elsewhere === 'only')
        throw new ParleyError('invalid', 'There is no chat here in which anything could be put on a message.')
      const { address, reader } = row.reply
      const messageId = await messageOf(read, wanted, { turn, session, row })
      if (messageId === undefined) throw new ParleyError('not_found', 'There is no such message here.')
      const place = await placeOf(read, messageId, { session, address })
      const target = { address: place, session, messageId, ...(reader === undefined ? {} : { reader }) }
      checkOutcome(await put(target, wanted.emoji, signal), address)
    },
  }
}

interface Asking {
  readonly turn: TurnRef
  readonly session: Session
  readonly row: Turn
}

/** Returns the platform's id of a message: the newest with these words, or the one that is answered. */
async function messageOf(
  read: StoreReader,
  { words }: WantedReaction,
  { turn, session, row }: Asking,
): Promise<string | undefined> {
  const { topic: _, ...chat } = row.reply.address
  const since = (await read.chatMoves.movedAt(chat.channel, chat.chat)) ?? 0
  const asked = (await read.inbox.ofTurn(turn.id)).flatMap(({ dispatch: { origin, event, receivedAt } }) =>
    // Numbers of before belong to other messages by now.
    origin === 'platform' && 'messageId' in event && receivedAt >= since ? [event.messageId] : [],
  )
  if (words === undefined) return asked.at(-1) ?? row.reply.replyTo
  const here = formatAddress(chat)
  const said = await read.events.latestOf(session.id, ['user_message', 'history_taken_over'], LOOKED_THROUGH)
  const sought = words.trim().toLowerCase()
  // In another chat, from which those before were copied, messages have the same numbers.
  const found = saidHere(said).findLast(
    ({ data, type, at }) =>
      type === 'user_message' &&
      at >= since &&
      data.messageId !== undefined &&
      // A message that no platform has shown has a name of ours.
      !data.messageId.includes(':') &&
      // Whoever asks for it names the words too.
      !asked.includes(data.messageId) &&
      data.from === undefined &&
      (data.chat === undefined || data.chat === here) &&
      data.text.toLowerCase().includes(sought),
  )
  return found?.type === 'user_message' ? found.data.messageId : undefined
}

/** Returns the place of a message: another thread of the chat may have it, by which some platforms find it. */
async function placeOf(
  { inbox }: StoreReader,
  messageId: string,
  { session, address }: { readonly session: Session; readonly address: Address },
): Promise<Address> {
  const { topic: _topic, ...chat } = address
  const places = (await inbox.inSession(session.id, messageId)).map(({ dispatch: { event } }) => event.address)
  const found = places.find((one) => isSameChat(one, address))
  if (found === undefined) return address
  return found.topic === undefined ? chat : { ...chat, topic: found.topic }
}

function checkOutcome(outcome: ReactionOutcome, { channel }: Address): void {
  switch (outcome.kind) {
    case 'sent':
      return
    case 'denied':
      throw new ParleyError('forbidden', `Nothing may be said here now: ${outcome.because}.`)
    case 'without':
      throw new ParleyError('invalid', `${channel} has no reactions. Say it in words.`)
    case 'down':
      throw new ParleyError('unavailable', `${channel} cannot be reached now.`)
    case 'rejected':
      throw new ParleyError('invalid', `The platform refused it: ${outcome.reason}`)
    case 'not_sent':
    case 'unknown':
      throw new ParleyError('unavailable', `Nobody knows whether it stands there: ${outcome.reason}`)
  }
}
