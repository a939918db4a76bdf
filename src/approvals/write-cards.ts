import type { NewApproval } from '../core/approval.ts'
import type { IdSource } from '../core/ids.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import { quotedEvent } from '../core/quoting.ts'
import { isOwnChannel, type SessionIdentity } from '../core/session.ts'
import { approvalButtons, approvalCard, askedElsewhere, type CardFacts } from './approval-card.ts'

/** The people who are asked, and where. */
export interface CardReaders extends CardFacts {
  readonly session: SessionIdentity
  /** The turn answers somebody who may answer: they see in the conversation what is asked. */
  readonly answererIsHere: boolean
  /** One private chat for each of those who may answer. */
  readonly answerers: readonly Pick<OutboundMessage, 'address' | 'reader'>[]
}

type Place = Pick<OutboundMessage, 'address' | 'session' | 'reader'>

/**
 * Returns the messages that ask a question: one in the conversation where somebody who may answer has just spoken, else
 * one to each of them in private and a line here. What belongs to no chat, or is read elsewhere, is asked about in
 * private alone.
 */
export function writeCards(
  approval: NewApproval,
  readers: CardReaders,
  ids: Pick<IdSource, 'aside'>,
): readonly OutboundMessage[] {
  const { turnId, reply, traceId } = approval
  const to = (place: Place, text: string): OutboundMessage => {
    return { ...place, source: ids.aside(turnId), traceId, class: 'control', text }
  }
  const [card, buttons] = [approvalCard(approval, readers), approvalButtons(approval)]
  const quoting = quotingOf(approval, readers)
  const ask = (place: Place): OutboundMessage => ({ ...to(place, card), buttons, ...(quoting ? { quoting } : {}) })
  const here = { session: readers.session, address: reply.address, ...(reply.reader && { reader: reply.reader }) }
  const inChat = !isOwnChannel(readers.session) && reply.elsewhere === undefined
  if (inChat && readers.answererIsHere) return [ask(here)]
  const cards = readers.answerers.map(ask)
  return inChat ? [...cards, to(here, askedElsewhere(approval))] : cards
}

/** Returns the words of somebody that a card shows, which may be forgotten while it is there. */
function quotingOf(approval: NewApproval, { newest, ...readers }: CardReaders): OutboundMessage['quoting'] {
  if (newest === undefined || newest.kind === 'result') return undefined
  const text = approvalCard(approval, { ...readers, newest: undefined })
  return { of: quotedEvent(readers.session.id, newest.seq), text }
}
