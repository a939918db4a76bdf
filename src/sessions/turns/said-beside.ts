import type { Address } from '../../core/address.ts'
import { type Channels, countsByBot } from '../../core/channel-traits.ts'
import { madeAt, turnOf } from '../../core/ids.ts'
import { type InboundEvent, type InboundText, type QuotedMessage, quotesOtherBot, saidAt } from '../../core/message.ts'
import type { Delivery } from '../../core/outbound.ts'
import { type Chats, idsWhereCounted, isBeside, sameBeside } from '../../core/same-beside.ts'
import { hasSameContent } from '../../core/same-content.ts'
import { isWithin, sendingSpan } from '../../core/sending-span.ts'
import { isEmptied } from '../../core/turn-end.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'

type Traits = Pick<Channels, 'traits'>
type Reader = Pick<StoreReader, 'inbox' | 'forgetting' | 'chatMoves'>
type SentReader = Reader & Pick<StoreReader, 'outbox'>

/** An answer may have waited for as long before it was sent, or longer where an operator has it sent again. */
const WAITED_MS = 24 * 3_600_000

/** Returns true for a message of a group that another bot of ours has received, or sent, and forgotten. */
export async function isForgottenBeside(read: SentReader, channels: Traits, event: InboundEvent): Promise<boolean> {
  if (!('text' in event) || event.address.chatType === 'direct') return false
  const chats = await chatsOf(read, channels, event.address)
  if (event.sender.kind === 'bot' && (await isForgottenAnswer(read, chats, event))) return true
  const rows = await rowsOf(read, chats, event.address, { messageId: event.messageId, sentAt: saidAt(event) })
  const copyOf = (said: InboundEvent, row: InboxRow) => sameBeside(row.dispatch.event, said, chats)
  const beside = rows.filter((row) => copyOf(event, row) !== 'another')
  const forgotten = await forgottenOf(read, beside)
  if (forgotten.length === 0) return false
  const own = rows
    .filter((row) => addressOf(row).account === event.address.account)
    .filter((row) => forgotten.some(({ dispatch }) => copyOf(dispatch.event, row) !== 'another'))
  const here = await forgottenOf(read, own)
  if (own.some((row) => !here.includes(row) && hasName(row, event))) return false
  return forgotten.some((row) => copyOf(event, row) === 'same') || isOneOfSecond(event, { here, beside, forgotten })
}

/** Returns true for an edit of a message that the bot itself has: its own row decides. */
function hasName({ dispatch: { event } }: InboxRow, { messageId }: InboundText): boolean {
  return 'messageId' in event && event.messageId === messageId
}

/** Bots receive nothing of one another in groups in which each counts messages by itself. */
async function isForgottenAnswer(
  read: SentReader,
  chats: Chats,
  { address, messageId }: Pick<InboundText, 'address' | 'messageId'>,
): Promise<boolean> {
  if (countsByBot(chats.channels, address)) return false
  return hasForgotten(read, await sentBeside(read, chats, address, { messageId, own: false }))
}

interface RowsOfSecond {
  /** Those of the bot itself that were forgotten: one that has its words is another message. */
  readonly here: readonly InboxRow[]
  readonly beside: readonly InboxRow[]
  readonly forgotten: readonly InboxRow[]
}

/**
 * Nothing but its writer and its second is left of a forgotten message of a group in which each bot counts messages by
 * itself. One of these is another where a bot still has its words, or where as many as were forgotten have gone here.
 */
function isOneOfSecond(event: InboundEvent, { here, beside, forgotten }: RowsOfSecond): boolean {
  const live = beside.filter((row) => !forgotten.includes(row)).map(({ dispatch }) => dispatch.event)
  const isLive = (said: InboundEvent): boolean => live.some((one) => hasSameContent(one, said))
  const accounts = new Set(forgotten.map((row) => addressOf(row).account))
  const isOf = (account: string): boolean =>
    messagesIn(forgotten.filter((row) => addressOf(row).account === account)) > messagesIn(here)
  return !isLive(event) && [...accounts].some(isOf)
}

/** An edit is no further message. */
function messagesIn(rows: readonly InboxRow[]): number {
  return new Set(rows.flatMap(({ dispatch: { event } }) => ('text' in event ? event.messageId : []))).size
}

/** Returns true for the quotation of a message that another bot of ours has received, or sent, and forgotten. */
export async function isForgottenQuoteBeside(
  read: SentReader,
  channels: Traits,
  address: Address,
  quoted: QuotedMessage,
): Promise<boolean> {
  const { sender } = quoted
  const chats = await chatsOf(read, channels, address)
  // The bot has no row of that number, unless it is of another number before the chat got its id.
  const rows = (await rowsOf(read, chats, address, quoted)).filter(
    ({ dispatch: { event } }) =>
      (isBeside(event.address, address, chats.moves) || event.address.chat !== address.chat) &&
      (sender === undefined || event.sender.id === sender.id),
  )
  const forgotten = await emptiedOf(read, rows)
  if (forgotten.length > 0) return !(countsByBot(channels, address) && isKept(rows, forgotten, quoted))
  return quotesOtherBot(quoted, address) && hasForgotten(read, await sentBeside(read, chats, address, quoted))
}

/** Another message of that second has the quoted words, and one of our bots has it. */
function isKept(rows: readonly InboxRow[], forgotten: readonly InboxRow[], { text = '' }: QuotedMessage): boolean {
  const live = rows.filter((row) => !forgotten.includes(row)).map(({ dispatch }) => dispatch.event)
  return text !== '' && live.some((said) => 'text' in said && said.text.includes(text))
}

/** Most chats have had their id from the beginning: then no moves are read. */
async function chatsOf({ chatMoves }: Reader, channels: Traits, { channel, chat }: Address): Promise<Chats> {
  const hasMoved = (await chatMoves.movedAt(channel, chat)) !== undefined
  return { channels, moves: hasMoved ? await chatMoves.all() : [] }
}

/** Returns the rows of a message of a group by all our bots; where each bot counts by itself, those of its second. */
async function rowsOf(
  read: Reader,
  chats: Chats,
  address: Address,
  { messageId, sentAt }: Pick<QuotedMessage, 'messageId' | 'sentAt'>,
): Promise<readonly InboxRow[]> {
  const { channel, chat } = address
  const ids = idsWhereCounted(address, sentAt, chats)
  // Reactions and deletions have the number of a message, and may be forgotten without it.
  if (ids.length === 0) return (await read.inbox.ofMessage(channel, messageId, chat)).filter(isText)
  const rows = sentAt === undefined ? [] : await read.inbox.saidAt(channel, sentAt)
  return rows.filter((row) => isText(row) && ids.includes(addressOf(row).chat))
}

/** Returns what our other bots have said in a group that may be what is quoted. */
async function sentBeside(
  { outbox }: SentReader,
  chats: Chats,
  address: Address,
  { messageId, sentAt }: QuotedMessage,
): Promise<readonly Delivery[]> {
  const ids = idsWhereCounted(address, sentAt, chats)
  if (ids.length === 0)
    return (await outbox.ofMessage(messageId)).filter(({ address: said }) => isBeside(said, address))
  if (sentAt === undefined) return []
  const { from, to } = sendingSpan(sentAt - WAITED_MS, sentAt)
  const times = { from, to, begunSince: sendingSpan(sentAt).from }
  const rows = await Promise.all(ids.map((chat) => outbox.plannedFor({ ...address, chat }, times)))
  return rows
    .flat()
    .filter(({ address: said }) => isBeside(said, address, chats.moves))
    .filter(({ id, startedAt }) => isWithin(sendingSpan(madeAt(id) ?? sentAt, startedAt), sentAt))
}

function isText({ dispatch: { event } }: InboxRow): boolean {
  return 'text' in event
}

function addressOf({ dispatch }: InboxRow): Address {
  return dispatch.event.address
}

/** Returns those of the rows that somebody has asked to be forgotten. */
export async function forgottenOf(
  { forgetting }: Pick<Reader, 'forgetting'>,
  rows: readonly InboxRow[],
): Promise<readonly InboxRow[]> {
  const forgotten: InboxRow[] = []
  for (const row of rows) if (row.outcome === 'forgotten' || (await forgetting.isMeant(row.id))) forgotten.push(row)
  return forgotten
}

/** Returns those of the rows that are or are going to be emptied, also those that have gone for their age. */
export async function emptiedOf(
  read: Pick<Reader, 'forgetting'>,
  rows: readonly InboxRow[],
): Promise<readonly InboxRow[]> {
  const asked = await forgottenOf(read, rows)
  return rows.filter((row) => asked.includes(row) || isEmptied(row.outcome))
}

/** Returns true where one of these messages of ours was or is going to be emptied. */
export async function hasForgotten(
  { forgetting }: Pick<Reader, 'forgetting'>,
  rows: readonly Delivery[],
): Promise<boolean> {
  for (const { part, source } of rows) {
    if ((part.text === '' && !part.file) || (await forgetting.isMeant(source))) return true
    const turn = turnOf(source)
    if (turn !== undefined && (await forgetting.isForgetting(turn))) return true
  }
  return false
}
