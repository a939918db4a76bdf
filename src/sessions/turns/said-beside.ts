import type { Address } from '../../core/address.ts'
import { type Channels, countsByBot, hasOwnNumbers } from '../../core/channel-traits.ts'
import { madeAt, turnOf } from '../../core/ids.ts'
import { type InboundEvent, type InboundText, type QuotedMessage, quotesOtherBot, saidAt } from '../../core/message.ts'
import type { Delivery } from '../../core/outbound.ts'
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
  if (event.sender.kind === 'bot' && (await isForgottenAnswer(read, channels, event))) return true
  // A number may be of two messages on a channel that has such groups.
  const at = saidAt(event)
  const isOfTime = (said: InboundEvent): boolean =>
    saidAt(said) === at || !hasOwnNumbers(channels, event.address.channel)
  const rows = (await rowsOf(read, channels, event.address, { messageId: event.messageId, sentAt: at })).filter(
    ({ dispatch: { event: said } }) => said.sender.id === event.sender.id && isOfTime(said),
  )
  const beside = rows.filter((row) => isOfOtherBot(addressOf(row), event.address))
  const forgotten = await forgottenOf(read, beside)
  if (forgotten.length === 0) return false
  const own = rows.filter((row) => !beside.includes(row))
  const here = await forgottenOf(read, own)
  if (own.some((row) => !here.includes(row) && hasName(row, event))) return false
  const counted = await countedByBot(read, channels, event.address, at)
  return counted.length === 0 || isOneOfSecond(event, { here, beside, forgotten })
}

/** Returns true for an edit of a message that the bot itself has: its own row decides. */
function hasName({ dispatch: { event } }: InboxRow, { messageId }: InboundText): boolean {
  return 'messageId' in event && event.messageId === messageId
}

/** Bots receive nothing of one another in groups in which each counts messages by itself. */
async function isForgottenAnswer(
  read: SentReader,
  channels: Traits,
  { address, messageId }: Pick<InboundText, 'address' | 'messageId'>,
): Promise<boolean> {
  if (countsByBot(channels, address)) return false
  return hasForgotten(read, await sentBeside(read, channels, address, { messageId, own: false }))
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
  // The bot has no row of that number, unless it is of another number before the chat got its id.
  const rows = (await rowsOf(read, channels, address, quoted)).filter(
    ({ dispatch: { event } }) =>
      (isOfOtherBot(event.address, address) || event.address.chat !== address.chat) &&
      (sender === undefined || event.sender.id === sender.id),
  )
  const forgotten = await emptiedOf(read, rows)
  if (forgotten.length > 0) return !(countsByBot(channels, address) && isKept(rows, forgotten, quoted))
  return quotesOtherBot(quoted, address) && hasForgotten(read, await sentBeside(read, channels, address, quoted))
}

/** Another message of that second has the quoted words, and one of our bots has it. */
function isKept(rows: readonly InboxRow[], forgotten: readonly InboxRow[], { text = '' }: QuotedMessage): boolean {
  const live = rows.filter((row) => !forgotten.includes(row)).map(({ dispatch }) => dispatch.event)
  return text !== '' && live.some((said) => 'text' in said && said.text.includes(text))
}

/** Returns the rows of a message of a group by all our bots; where each bot counts by itself, those of its second. */
async function rowsOf(
  read: Reader,
  channels: Traits,
  address: Address,
  { messageId, sentAt }: Pick<QuotedMessage, 'messageId' | 'sentAt'>,
): Promise<readonly InboxRow[]> {
  const { channel, chat } = address
  const ids = await countedByBot(read, channels, address, sentAt)
  // Reactions and deletions have the number of a message, and may be forgotten without it.
  if (ids.length === 0) return (await read.inbox.ofMessage(channel, messageId, chat)).filter(isText)
  const rows = sentAt === undefined ? [] : await read.inbox.saidAt(channel, sentAt)
  return rows.filter((row) => isText(row) && ids.includes(addressOf(row).chat))
}

/**
 * Returns the ids of a group where each bot counts messages by itself, none elsewhere. One that comes late has the id
 * that its group got meanwhile, and the number that it had before.
 */
async function countedByBot(
  { chatMoves }: Pick<Reader, 'chatMoves'>,
  channels: Traits,
  address: Address,
  sentAt: number | undefined,
): Promise<readonly string[]> {
  const { channel, chat } = address
  if (countsByBot(channels, address)) return [chat]
  if (sentAt === undefined || !hasOwnNumbers(channels, channel)) return []
  const movedAt = await chatMoves.movedAt(channel, chat)
  if (movedAt === undefined || sentAt > movedAt) return []
  const moves = await chatMoves.all()
  return [chat, ...moves.filter((move) => move.channel === channel && move.to === chat).map(({ from }) => from)]
}

/** Returns what our other bots have said in a group that may be what is quoted. */
async function sentBeside(
  read: SentReader,
  channels: Traits,
  address: Address,
  { messageId, sentAt }: QuotedMessage,
): Promise<readonly Delivery[]> {
  const { outbox } = read
  const ids = await countedByBot(read, channels, address, sentAt)
  if (ids.length === 0)
    return (await outbox.ofMessage(messageId)).filter(({ address: said }) => isBeside(said, address))
  if (sentAt === undefined) return []
  const { from, to } = sendingSpan(sentAt - WAITED_MS, sentAt)
  const times = { from, to, begunSince: sendingSpan(sentAt).from }
  const rows = await Promise.all(ids.map((chat) => outbox.plannedFor({ ...address, chat }, times)))
  return rows
    .flat()
    .filter(({ address: said }) => isOfOtherBot(said, address))
    .filter(({ id, startedAt }) => isWithin(sendingSpan(madeAt(id) ?? sentAt, startedAt), sentAt))
}

function isText({ dispatch: { event } }: InboxRow): boolean {
  return 'text' in event
}

function addressOf({ dispatch }: InboxRow): Address {
  return dispatch.event.address
}

/** Returns true for an address of the same group by another bot of ours. */
function isBeside(one: Address, address: Address): boolean {
  return one.channel === address.channel && one.chat === address.chat && isOfOtherBot(one, address)
}

function isOfOtherBot({ account }: Address, address: Address): boolean {
  return address.chatType !== 'direct' && account !== address.account
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
