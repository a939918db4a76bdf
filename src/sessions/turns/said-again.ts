import type { Address } from '../../core/address.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { InboxOutcome } from '../../core/turn-end.ts'
import type { StoreReader } from '../../store/store.ts'
import { admittedKey } from '../people/admitted-key.ts'
import { inThreadKey } from './in-thread-key.ts'

type Reader = Pick<StoreReader, 'inbox'>

/** Returns true for an edit of a message that was forgotten: a platform may send one with all its words at any time. */
export async function isOfForgotten(read: Reader, { event }: Dispatch): Promise<boolean> {
  return event.kind === 'edit' && (await hasOutcome(read, event, event.original, ['forgotten']))
}

/**
 * Returns true for a message that a platform still shows and no prompt has any more: it was forgotten, or its exchange
 * was taken back.
 */
export function isGone(read: Reader, event: InboundEvent): Promise<boolean> {
  return hasOutcome(read, event, event.eventKey, ['forgotten', 'taken_back'])
}

/** A message may have further rows: of a stranger who was let in later, and of a thread that was read. */
async function hasOutcome(
  { inbox }: Reader,
  { address: { channel, account } }: Pick<InboundEvent, 'address'>,
  key: string,
  outcomes: readonly (InboxOutcome | undefined)[],
): Promise<boolean> {
  for (const one of [key, admittedKey(key), inThreadKey(key)]) {
    const row = await inbox.byKey(channel, account, one)
    if (outcomes.includes(row?.outcome)) return true
  }
  return false
}

/** Returns the dispatch without the words of a forgotten message, which platforms send with each reply to it. */
export async function withoutForgottenQuote(
  read: Pick<StoreReader, 'inbox' | 'outbox'>,
  dispatch: Dispatch,
): Promise<Dispatch> {
  const { event } = dispatch
  if (!('text' in event) || event.quoted === undefined) return dispatch
  const { address, quoted } = event
  const isForgotten = quoted.own ? isOwnForgotten : isForgottenHere
  if (!(await isForgotten(read, address, quoted.messageId))) return dispatch
  const { text: _text, ...name } = quoted
  const attachments = event.attachments.filter((file) => !file.quoted)
  return { ...dispatch, event: { ...event, quoted: name, attachments } }
}

async function isForgottenHere(
  { inbox }: Reader,
  { channel, account, chat }: Address,
  messageId: string,
): Promise<boolean> {
  return (await inbox.ofMessage(channel, messageId)).some(
    ({ outcome, dispatch: { event: said } }) =>
      outcome === 'forgotten' && said.address.account === account && said.address.chat === chat,
  )
}

/** A message of ours that the platform still has: what it said was taken out of its row. */
async function isOwnForgotten(
  { outbox }: Pick<StoreReader, 'outbox'>,
  { channel, account, chat }: Address,
  messageId: string,
): Promise<boolean> {
  return (await outbox.ofMessage(messageId)).some(
    ({ address: said, part }) =>
      said.channel === channel && said.account === account && said.chat === chat && part.text === '' && !part.file,
  )
}
