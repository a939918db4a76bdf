import { setImmediate } from 'node:timers/promises'
import { type Address, isSameChat } from '../../core/address.ts'
import { type ChatMove, movedAddress } from '../../core/chat-move.ts'
import { type InboxId, isInboxId, turnOf } from '../../core/ids.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { MessageLink } from '../../core/message-link.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'

type Readers = Pick<StoreReader, 'inbox' | 'outbox'>

/**
 * Returns the messages somebody asks about, newest first: by a link, or by inbox id, trace id or the platform's own id.
 * A message of the agent stands for those it answered; a copy of one is meant only where nothing else has that name.
 * Empty if none of that name was received or sent.
 */
export async function findMessages(read: Readers, asked: string | MessageLink): Promise<readonly InboxRow[]> {
  const named =
    typeof asked === 'string'
      ? await read.inbox.find(asked)
      : ofAccount(await read.inbox.ofMessage(asked.channel, asked.messageId, asked.chat), asked)
  const others = named.filter((row) => !isOwnCopy(row))
  const received = others.length > 0 ? others : named
  if (received.some(({ dispatch: { event } }) => 'text' in event))
    return received.filter(({ dispatch: { event } }) => event.kind !== 'reaction')
  // Reactions and deletions have the number of the message that they are about, which may be one of ours.
  const ours = await answered(read, asked)
  return ours.length > 0 ? ours : received
}

/** Rows that are looked through, so that the question has a bounded cost. */
const LOOKED_THROUGH = 200
const SAID: readonly InboundEvent['kind'][] = ['message', 'command', 'edit']

/**
 * Returns what was said in a chat and topic lately, newest first, without the commands that were run and the copies of
 * what the bot said itself.
 */
export async function recentMessages(
  { inbox, chatMoves }: Pick<StoreReader, 'inbox' | 'chatMoves'>,
  address: Address,
): Promise<readonly InboxRow[]> {
  const moves = await chatMoves.all()
  return (await inbox.recent(LOOKED_THROUGH)).filter((row) => isSaidIn(address, row, moves) && !isOwnCopy(row))
}

/** Returns the newest message that people said in a chat, in any topic unless one is named, or anywhere at all. */
export async function newestMessage(
  { inbox, chatMoves }: Pick<StoreReader, 'inbox' | 'chatMoves'>,
  place?: Address,
): Promise<InboxRow | undefined> {
  const moves = await chatMoves.all()
  return newestThat(inbox, (row) => {
    const { topic } = place ?? {}
    const at = moves.reduce(movedAddress, row.dispatch.event.address)
    const isThere = place === undefined || (isSameChat(at, place) && (topic === undefined || at.topic === topic))
    return isThere && isSaid(row) && !isOwnCopy(row)
  })
}

/**
 * Returns the last message of a chat and topic that is meant and came before the message `until`, however much was said
 * elsewhere since: before by its number, for clocks are set.
 */
export async function lastMessage(
  { inbox, chatMoves }: Pick<StoreReader, 'inbox' | 'chatMoves'>,
  { address, until }: { readonly address: Address; readonly until: InboxId },
  isMeant: (row: InboxRow) => boolean,
): Promise<InboxRow | undefined> {
  const moves = await chatMoves.all()
  let isBefore = false
  return newestThat(inbox, (row) => {
    isBefore ||= row.id === until
    return isBefore && isSaidIn(address, row, moves) && isMeant(row)
  })
}

async function newestThat(
  inbox: StoreReader['inbox'],
  isMeant: (row: InboxRow) => boolean,
): Promise<InboxRow | undefined> {
  for (let offset = 0; ; offset += LOOKED_THROUGH) {
    const rows = await inbox.recent(LOOKED_THROUGH, offset)
    const newest = rows.find(isMeant)
    if (newest !== undefined || rows.length === 0) return newest
    await setImmediate()
  }
}

/** Rows from before a chat of these got its present id have the old one. */
function isSaidIn(address: Address, row: InboxRow, moves: readonly ChatMove[]): boolean {
  const at = moves.reduce(movedAddress, row.dispatch.event.address)
  return isSameChat(at, address) && at.topic === address.topic && isSaid(row)
}

function isSaid({ decision, dispatch: { event } }: InboxRow): boolean {
  return decision.kind !== 'control' && SAID.includes(event.kind)
}

function isOwnCopy({ outcome }: InboxRow): boolean {
  return outcome === 'ignored: own_message'
}

/** Returns the messages that the agent's own messages of this name answered. */
async function answered({ inbox, outbox }: Readers, asked: string | MessageLink): Promise<readonly InboxRow[]> {
  const messageId = typeof asked === 'string' ? asked : asked.messageId
  const ours = (await outbox.ofMessage(messageId)).filter(
    ({ address }) => typeof asked === 'string' || within(address, asked),
  )
  const sources = [...new Set(ours.map(({ source }) => source))]
  const rows = await Promise.all(
    sources.map(async (source) => {
      const turn = turnOf(source)
      if (turn !== undefined) return inbox.ofTurn(turn)
      // A notice answers no message.
      if (!isInboxId(source)) return []
      const row = await inbox.get(source)
      return row ? [row] : []
    }),
  )
  return rows.flat()
}

/**
 * Returns the rows that the bot of a link has received, and behind them those of other bots that are the same message:
 * each has direct chats of its own.
 */
function ofAccount(rows: readonly InboxRow[], link: MessageLink): readonly InboxRow[] {
  const own = rows.filter(({ dispatch: { event } }) => within(event.address, link))
  const others = rows.filter((row) => !own.includes(row) && row.dispatch.event.address.chatType !== 'direct')
  const isOne = ({ dispatch: { event } }: InboxRow): boolean =>
    own.some(({ dispatch: one }) => one.event.sender.id === event.sender.id && one.event.sentAt === event.sentAt)
  return [...own, ...others.filter(isOne)]
}

/**
 * Returns true if the address matches the link. A link without a chat matches any chat. The topic is ignored, since a
 * thread's root lies outside of its thread.
 */
function within({ channel, account, chat }: Address, link: MessageLink): boolean {
  if (channel !== link.channel || (link.account !== undefined && link.account !== account)) return false
  return link.chat === undefined || link.chat === chat
}
