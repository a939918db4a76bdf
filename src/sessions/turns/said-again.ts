import { type Address, isSameChat } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { turnOf } from '../../core/ids.ts'
import type { InboundEvent, QuotedMessage } from '../../core/message.ts'
import { hasSameContent, isWordless } from '../../core/same-content.ts'
import { EMPTIED, type InboxOutcome, isEmptied } from '../../core/turn-end.ts'
import type { StoreReader } from '../../store/store.ts'
import { admittedKey, waitedKey } from '../people/admitted-key.ts'
import { inThreadKey } from './in-thread-key.ts'
import { emptiedOf, forgottenOf, hasForgotten, isForgottenBeside, isForgottenQuoteBeside } from './said-beside.ts'

type Traits = Pick<Channels, 'traits'>
type Reader = Pick<StoreReader, 'inbox' | 'forgetting' | 'chatMoves'>
type SentReader = Reader & Pick<StoreReader, 'outbox'>

/**
 * Returns true for an edit of a message that was or is being forgotten: a platform may send one with all its words at
 * any time. So it is with a message of a group that comes to one of our bots, however late, after another was asked to
 * forget it, and with one that waited until its author was let in, and has been read for that; it may have been
 * deleted since.
 */
export async function isOfForgotten(
  read: SentReader,
  channels: Traits,
  { event }: Pick<Dispatch, 'event'>,
): Promise<boolean> {
  const original = event.kind === 'edit' ? [event.original, waitedKey(event.original)] : []
  for (const key of [...original, waitedKey(event.eventKey)])
    if (key !== undefined && (await hasOutcome(read, event, key, EMPTIED))) return true
  if (await isEditOfForgottenEdit(read, event)) return true
  if ((await isForgottenBeside(read, channels, event)) || (await isPieceOfForgotten(read, event))) return true
  const waited = waitedKey(event.eventKey)
  return waited !== undefined && isDeleted(read, event, waited)
}

/** Returns true for an edit of what has gone for its age alone: another bot of ours may keep it for longer. */
export async function isOfAged(read: Reader, { event }: Pick<Dispatch, 'event'>): Promise<boolean> {
  if (event.kind !== 'edit') return false
  const { address, messageId } = event
  const rows = await read.inbox.ofMessage(address.channel, messageId, address.chat)
  const here = rows.filter(({ dispatch }) => isSameChat(dispatch.event.address, address))
  return here.some(({ outcome }) => outcome === 'aged') && (await forgottenOf(read, here)).length === 0
}

/** One who has a piece of an album or of a long text forgotten means all of it: a further piece may come later. */
async function isPieceOfForgotten(read: Reader, event: InboundEvent): Promise<boolean> {
  if (!('text' in event) || event.piece === undefined) return false
  const pieces = await read.inbox.piecesOf(event.address.channel, event.piece.of, event.sentAt)
  const here = pieces.filter(({ dispatch }) => isSameChat(dispatch.event.address, event.address))
  return (await forgottenOf(read, here)).length > 0
}

/** A message that came before the agent was there is on record by its edits alone. */
async function isEditOfForgottenEdit({ inbox, forgetting }: Reader, event: InboundEvent): Promise<boolean> {
  if (event.kind !== 'edit') return false
  const { address, messageId, original } = event
  for (const { id, outcome, dispatch } of await inbox.ofMessage(address.channel, messageId)) {
    const one = dispatch.event
    const isSame = one.kind === 'edit' && one.original === original && one.address.account === address.account
    if (isSame && (isEmptied(outcome) || (await forgetting.isMeant(id)))) return true
  }
  return false
}

/** Returns true for a message whose deletion has come, though it is on record nowhere yet. */
async function isDeleted({ inbox }: Pick<Reader, 'inbox'>, event: InboundEvent, key: string): Promise<boolean> {
  if (!('messageId' in event)) return false
  const { channel, account } = event.address
  const rows = await inbox.ofMessage(channel, event.messageId)
  return rows.some(
    ({ dispatch: { event: one } }) => one.kind === 'delete' && one.original === key && one.address.account === account,
  )
}

/**
 * Returns true for a message that a platform has shown and no prompt has any more: it was forgotten or deleted, or its
 * exchange was taken back.
 */
export async function isGone(read: SentReader, channels: Traits, event: InboundEvent): Promise<boolean> {
  if (await hasOutcome(read, event, event.eventKey, [...EMPTIED, 'taken_back'])) return true
  return (await isForgottenBeside(read, channels, event)) || isDeleted(read, event, event.eventKey)
}

/** Returns true for a message whose edit came since then, while no session had it. */
export async function isEditedSince(
  { inbox }: Pick<Reader, 'inbox'>,
  event: InboundEvent,
  since: number,
): Promise<boolean> {
  if (event.kind !== 'message') return false
  const { address, messageId, eventKey } = event
  const rows = await inbox.ofMessage(address.channel, messageId)
  return rows.some(({ dispatch: { event: one, receivedAt }, outcome }) => {
    const isMeant = one.kind === 'edit' && one.original === eventKey && one.address.account === address.account
    return isMeant && receivedAt >= since && outcome === 'ignored: unknown_message'
  })
}

/**
 * Returns why an event says nothing new, if it does not: an edit after which the message reads as it did before (a
 * platform reports a first reaction or a preview so, too), or the copy of a post that one of our bots has sent.
 */
export async function saysNothingNew(
  read: SentReader,
  dispatch: Dispatch,
): Promise<'unchanged' | 'own_message' | undefined> {
  if (await isOwnPost(read, dispatch.event)) return 'own_message'
  return (await isUnchanged(read, dispatch)) ? 'unchanged' : undefined
}

async function isUnchanged({ inbox }: Pick<Reader, 'inbox'>, dispatch: Dispatch): Promise<boolean> {
  const { event } = dispatch
  if (event.kind !== 'edit') return false
  const { channel, account, chat } = event.address
  const original = (await inbox.byKey(channel, account, event.original))?.dispatch.event
  // A post and its copy are one message with two numbers.
  const other = original !== undefined && original.address.chat !== chat && 'text' in original ? [original] : []
  const rows = [await inbox.ofMessage(channel, event.messageId, chat)]
  for (const { messageId, address } of other) rows.push(await inbox.ofMessage(channel, messageId, address.chat))
  const texts = rows.flat().filter(({ dispatch: { event: one }, outcome }) => {
    const isSame = one.address.account === account && one.sender.id === event.sender.id
    return isSame && 'text' in one && outcome !== 'ignored: unchanged'
  })
  const [newest] = texts.sort((one, later) => later.dispatch.receivedAt - one.dispatch.receivedAt)
  return (
    newest !== undefined && !isWordless(newest.dispatch.event) && readsAlike(asCame(newest.dispatch), asCame(dispatch))
  )
}

/** Returns the event with the text that people read, which a hook may have changed for the agent. */
function asCame({ event, raw }: Dispatch): InboundEvent {
  return raw !== undefined && 'text' in event ? { ...event, text: raw } : event
}

function readsAlike(one: InboundEvent, other: InboundEvent): boolean {
  const things = (event: InboundEvent) => JSON.stringify('text' in event ? event.enclosed : undefined)
  return hasSameContent(one, other) && things(one) === things(other)
}

/** The copy may come before the answer to the call that sent the post, which is found by its words until then. */
async function isOwnPost({ outbox }: Pick<SentReader, 'outbox'>, event: InboundEvent): Promise<boolean> {
  if (!('text' in event) || event.copyOf === undefined) return false
  const { copyOf, address, sender, text } = event
  const isThere = ({ channel, chat }: Address): boolean =>
    channel === address.channel && (chat === copyOf.chat || chat.toLowerCase() === `@${sender.username?.toLowerCase()}`)
  const sent = await outbox.ofMessage(copyOf.messageId)
  if (sent.some((row) => isThere(row.address))) return true
  const begun = (await outbox.unfinished()).filter(({ state }) => state === 'sending' || state === 'uncertain')
  return begun.some((row) => isThere(row.address) && lettersOf(row.part.plain) === lettersOf(text))
}

/** Marks and addresses that are written differently are left out; the beginning is enough. */
function lettersOf(text: string): string {
  return text
    .slice(0, 400)
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .slice(0, 60)
}

/** A message may have further rows: of a stranger who was let in later, and of a thread that was read. */
async function hasOutcome(
  { inbox, forgetting }: Reader,
  { address: { channel, account } }: Pick<InboundEvent, 'address'>,
  key: string,
  outcomes: readonly (InboxOutcome | undefined)[],
): Promise<boolean> {
  for (const one of [key, admittedKey(key), inThreadKey(key)]) {
    const row = await inbox.byKey(channel, account, one)
    if (row !== undefined && (outcomes.includes(row.outcome) || (await forgetting.isMeant(row.id)))) return true
  }
  return false
}

/**
 * Returns the dispatch with the session that has said what is quoted, and without the words of a forgotten message,
 * which platforms send with each reply to it.
 */
export async function withKnownQuote(read: SentReader, channels: Traits, dispatch: Dispatch): Promise<Dispatch> {
  const { event } = dispatch
  if (!('text' in event) || event.quoted === undefined) return dispatch
  const { address, quoted } = event
  const { text: _text, ...name } = quoted
  const known = quoted.own
    ? await withSession(read, address, quoted)
    : (await isForgottenQuote(read, channels, address, quoted))
      ? undefined
      : quoted
  if (known !== undefined) return { ...dispatch, event: { ...event, quoted: known } }
  const attachments = event.attachments.filter((file) => !file.quoted)
  return { ...dispatch, event: { ...event, quoted: name, attachments } }
}

async function isForgottenQuote(
  read: SentReader,
  channels: Traits,
  address: Address,
  quoted: QuotedMessage,
): Promise<boolean> {
  const { messageId } = quoted
  const rows = await read.inbox.ofMessage(address.channel, messageId, address.chat)
  // In some groups each bot counts messages by itself, and what is kept for how long may differ: its own row decides.
  const here = rows.filter(({ dispatch: { event } }) => 'text' in event && isSameChat(event.address, address))
  if (here.length > 0) return (await emptiedOf(read, here)).length > 0
  return isForgottenQuoteBeside(read, channels, address, quoted)
}

/**
 * Returns a quote of ours with the session that has said it, where that was the answer of a turn: what commands list is
 * made of words of other sessions. Undefined where what it said was taken back, taken out of its row, or is going to
 * be, and where it is older than what is kept of answers: nobody knows then whether it was forgotten.
 */
async function withSession(
  read: SentReader,
  address: Address,
  quoted: QuotedMessage,
): Promise<QuotedMessage | undefined> {
  const sent = await read.outbox.ofMessage(quoted.messageId)
  const rows = sent.filter(({ address: said }) => isSameChat(said, address))
  if (rows.length === 0 || (await hasForgotten(read, rows))) return undefined
  const [answer] = rows.flatMap(({ source, sessionId }) => {
    const turn = turnOf(source)
    return turn === undefined || sessionId === undefined ? [] : [{ turn, saidIn: sessionId }]
  })
  if (answer === undefined) return quoted
  const { turn, saidIn } = answer
  const asked = await read.inbox.ofTurn(turn)
  return asked.some(({ outcome }) => outcome === 'taken_back') ? undefined : { ...quoted, saidIn }
}
