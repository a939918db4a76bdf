import { type Address, parseAddress } from '../../core/address.ts'
import { askingAuthor, senderAuthor } from '../../core/author.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import { textOf } from '../../core/content.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { ForgetTarget } from '../../core/forgetting.ts'
import type { ChannelId, MediaId, PersonId } from '../../core/ids.ts'
import type { InboundEvent, Sender } from '../../core/message.ts'
import { type AuthorId, NOBODY } from '../../core/platform-id.ts'
import type { ReceivedRow } from '../../store/forget-port.ts'
import { isSaidIn, type LogOrigin, liesIn } from './origin.ts'

type Traits = Pick<Channels, 'traits'>

/** Finds what a target means, in logs and among what was received. Ids decide, never names. */
export interface Matches {
  /** Returns true for a message that is to be forgotten. */
  isMessage(data: UserMessageData, at: number, origin: LogOrigin): boolean
  /** Returns true for a message that quotes or passes on what is to be forgotten. */
  quotes(data: Pick<UserMessageData, 'quoted' | 'forwarded'>, at: Chat | undefined): boolean
  /** Returns true where everything is to be forgotten, whoever said or did it. */
  isWhole(at: number, origin: LogOrigin): boolean
  isReceived(row: ReceivedRow): boolean
  isSentTo(address: InboundEvent['address'], at: number): boolean
}

/** A message that is meant, without its words. */
export interface Received extends Pick<ReceivedRow, 'id' | 'sessionId' | 'turnId'> {
  readonly author: AuthorId
  /** Others were there. */
  readonly shared: boolean
  /** Ms since the epoch. */
  readonly at: number
}

export function withoutWords({ id, sessionId, turnId, dispatch }: ReceivedRow, channels: Traits): Received {
  const { event, receivedAt: at } = dispatch
  const isNobodys = askingAuthor(channels, dispatch) === NOBODY
  const author = isNobodys ? NOBODY : senderAuthor(channels, event.address.channel, event.sender)
  const shared = event.address.chatType !== 'direct'
  return { id, author, shared, at, ...(sessionId ? { sessionId } : {}), ...(turnId ? { turnId } : {}) }
}

/** The chat in which something was said. */
type Chat = Pick<Address, 'channel' | 'account' | 'chat'>

/** `rows` are the messages that the target names. */
export function matchesOf(target: ForgetTarget, rows: readonly ReceivedRow[], channels: Traits): Matches {
  const { since = 0, before } = target
  const inTime = (at: number): boolean => at >= since && at < before
  const ids = new Set(target.kind === 'person' ? target.ids : [])
  const isTheirs = (sender: Sender | undefined, channel: ChannelId | undefined): boolean =>
    sender !== undefined && channel !== undefined && ids.has(senderAuthor(channels, channel, sender))
  // On a platform the ids of today decide: one that was theirs when it was said may be somebody else's by now.
  const isNamed = (person: PersonId | undefined, channel: ChannelId | undefined): boolean =>
    target.kind === 'person' &&
    target.person !== undefined &&
    target.person === person &&
    (channel === undefined || OWN_CHANNELS.includes(channel))
  return {
    isMessage(data, at, origin) {
      switch (target.kind) {
        case 'message':
          return rows.some((row) => isOf(row, data, origin))
        case 'person': {
          if (!inTime(at) || (target.place && !isSaidIn(target.place, origin, data.chat))) return false
          const channel = chatIn(data, origin)?.channel
          return isTheirs(data.sender, channel) || isNamed(data.person, channel)
        }
        case 'chat':
          return inTime(at) && isSaidIn(target.place, origin, data.chat)
        case 'session':
          return inTime(at) && origin.session === target.session
      }
    },
    quotes({ quoted, forwarded }, at) {
      // The number of a message is one of its chat.
      if (target.kind === 'message')
        return rows.some(
          ({ dispatch: { event } }) => at && isIn(event.address, at) && isCalled(event, quoted?.messageId),
        )
      return isTheirs(quoted?.sender, at?.channel) || isTheirs(forwarded?.from, at?.channel)
    },
    isWhole: (at, origin) =>
      inTime(at) &&
      ((target.kind === 'chat' && isSaidIn(target.place, origin)) ||
        (target.kind === 'session' && origin.session === target.session)),
    isReceived(row) {
      const { dispatch, decision } = row
      const { address, sender } = dispatch.event
      switch (target.kind) {
        case 'message':
          return rows.some((one) => isSameMessage(one.dispatch.event, dispatch.event))
        case 'person':
          if (!inTime(dispatch.receivedAt) || (target.place && !liesIn(target.place, address))) return false
          return (
            isTheirs(sender, address.channel) ||
            (dispatch.origin === 'platform' && isNamed(decision.identity.person, address.channel))
          )
        case 'chat':
          return inTime(dispatch.receivedAt) && liesIn(target.place, address)
        case 'session':
          return inTime(dispatch.receivedAt) && row.sessionId === target.session
      }
    },
    isSentTo: (address, at) => target.kind === 'chat' && inTime(at) && liesIn(target.place, address),
  }
}

/** Returns the chat in which a message of a log was said; undefined where nothing says it. */
export function chatIn({ chat }: UserMessageData, { address }: LogOrigin): Chat | undefined {
  return chat === undefined ? address : parseAddress(chat)
}

function isIn(one: Chat, { channel, account, chat }: Chat): boolean {
  return one.channel === channel && one.account === account && one.chat === chat
}

function isCalled(event: InboundEvent, messageId: string | undefined): boolean {
  return 'messageId' in event && event.messageId === messageId
}

/** A message is known by its row, and where it owed no turn by its id, its sender and the session it was said in. */
function isOf({ id, sessionId, dispatch: { event } }: ReceivedRow, data: UserMessageData, origin: LogOrigin): boolean {
  if (data.row !== undefined && data.row === id) return true
  if (!('messageId' in event) || data.messageId !== event.messageId || origin.session !== sessionId) return false
  return data.sender.id === event.sender.id
}

function isSameMessage(one: InboundEvent, other: InboundEvent): boolean {
  if (!('messageId' in one) || !('messageId' in other) || one.messageId !== other.messageId) return false
  return isIn(one.address, other.address) && one.sender.id === other.sender.id
}

/** Returns the texts that the agent or a tool brought into a log with an event. */
export function madeWords(event: SessionEvent): readonly string[] {
  switch (event.type) {
    case 'assistant_step':
      return [event.data.text, ...event.data.calls.map(({ args }) => spoken(args))]
    case 'tool_call':
    case 'approval_requested':
      return [spoken(event.data.args)]
    case 'tool_result':
      return [textOf(event.data.content)]
    case 'assistant_message':
    case 'assistant_posted':
    case 'delivery_retried':
    case 'context_compacted':
      return [event.data.text]
    case 'delivery_failed':
      return [event.data.text, event.data.reason]
    case 'checkpoint_written':
      return event.data.working === undefined ? [] : [event.data.working]
    case 'history_boundary':
      return event.data.kind === 'replaced'
        ? event.data.exchanges.flatMap(({ user, assistant }) => [user, assistant])
        : []
    case 'files_read':
      return event.data.files.flatMap(({ text, spoken: said }) => [text ?? '', said ?? ''])
    default:
      return []
  }
}

/** Returns the texts in the arguments of a call, however deep. */
function spoken(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(spoken).join('\n')
}

/** Returns the files that an event names. */
export function filesIn(event: SessionEvent): readonly MediaId[] {
  switch (event.type) {
    case 'user_message':
    case 'message_edited':
      return (event.data.attachments ?? []).flatMap(({ media }) => media?.media ?? [])
    case 'files_read':
      return event.data.files.flatMap(({ media }) => media?.media ?? [])
    case 'tool_result':
      return event.data.content.flatMap((part) => (part.type === 'text' ? [] : [part.media]))
    default:
      return []
  }
}
