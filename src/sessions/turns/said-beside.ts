import type { Address } from '../../core/address.ts'
import { type Channels, countsByBot } from '../../core/channel-traits.ts'
import { madeAt, turnOf } from '../../core/ids.ts'
import { type InboundEvent, type QuotedMessage, quotesOtherBot } from '../../core/message.ts'
import type { Delivery } from '../../core/outbound.ts'
import { hasSameContent } from '../../core/same-content.ts'
import { isWithin, sendingSpan } from '../../core/sending-span.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'

type Traits = Pick<Channels, 'traits'>
type Reader = Pick<StoreReader, 'inbox' | 'forgetting'>
type SentReader = Reader & Pick<StoreReader, 'outbox'>

/** An answer may have waited for as long before it was sent. */
const WAITED_MS = 24 * 3_600_000

/** Returns true for a message of a group that another bot of ours has received and forgotten. */
export async function isForgottenBeside(read: Reader, channels: Traits, event: InboundEvent): Promise<boolean> {
  if (!('text' in event) || event.address.chatType === 'direct') return false
  const rows = (await rowsOf(read, channels, event.address, event)).filter(
    ({ dispatch: { event: said } }) => said.sender.id === event.sender.id && said.sentAt === event.sentAt,
  )
  const beside = rows.filter((row) => isBeside(addressOf(row), event.address))
  const forgotten = await forgottenOf(read, beside)
  if (!countsByBot(channels, event.address)) return forgotten.length > 0
  const here = await forgottenOf(
    read,
    rows.filter((row) => !beside.includes(row)),
  )
  return isOneOfSecond(event, { here, beside, forgotten })
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
  const isOf = (account: string) => forgotten.filter((row) => addressOf(row).account === account).length > here.length
  return !isLive(event) && [...accounts].some(isOf)
}

/** Returns true for the quotation of a message that another bot of ours has received, or sent, and forgotten. */
export async function isForgottenQuoteBeside(
  read: SentReader,
  channels: Traits,
  address: Address,
  quoted: QuotedMessage,
): Promise<boolean> {
  const { sender } = quoted
  const rows = (await rowsOf(read, channels, address, quoted)).filter(
    ({ dispatch: { event } }) =>
      isBeside(event.address, address) && (sender === undefined || event.sender.id === sender.id),
  )
  if ((await forgottenOf(read, rows)).length > 0) return true
  return quotesOtherBot(quoted, address) && hasForgotten(read, await sentBeside(read, channels, address, quoted))
}

/** Returns the rows of a message of a group by all our bots; where each bot counts by itself, those of its second. */
async function rowsOf(
  { inbox }: Reader,
  channels: Traits,
  address: Address,
  { messageId, sentAt }: Pick<QuotedMessage, 'messageId' | 'sentAt'>,
): Promise<readonly InboxRow[]> {
  const { channel, chat } = address
  if (!countsByBot(channels, address)) return inbox.ofMessage(channel, messageId, chat)
  const rows = sentAt === undefined ? [] : await inbox.saidAt(channel, sentAt)
  return rows.filter((row) => addressOf(row).chat === chat)
}

/** Returns what our other bots have said in a group that may be what is quoted. */
async function sentBeside(
  { outbox }: SentReader,
  channels: Traits,
  address: Address,
  quoted: QuotedMessage,
): Promise<readonly Delivery[]> {
  const { messageId, sentAt } = quoted
  const ofTime = async (at: number) => {
    const { from, to } = sendingSpan(at - WAITED_MS, at)
    const rows = await outbox.plannedFor(address, from, to)
    return rows.filter(({ id, startedAt }) => isWithin(sendingSpan(madeAt(id) ?? at, startedAt), at))
  }
  const rows = countsByBot(channels, address)
    ? await (sentAt === undefined ? [] : ofTime(sentAt))
    : await outbox.ofMessage(messageId)
  return rows.filter(({ address: said }) => isBeside(said, address))
}

function addressOf({ dispatch }: InboxRow): Address {
  return dispatch.event.address
}

/** Returns true for an address of the same group by another bot of ours. */
function isBeside(one: Address, { channel, account, chat, chatType }: Address): boolean {
  return chatType !== 'direct' && one.channel === channel && one.chat === chat && one.account !== account
}

/** Returns those of the rows that are or are going to be emptied. */
export async function forgottenOf(
  { forgetting }: Pick<Reader, 'forgetting'>,
  rows: readonly InboxRow[],
): Promise<readonly InboxRow[]> {
  const forgotten: InboxRow[] = []
  for (const row of rows) if (row.outcome === 'forgotten' || (await forgetting.isMeant(row.id))) forgotten.push(row)
  return forgotten
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
