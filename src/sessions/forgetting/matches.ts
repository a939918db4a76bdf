import { type Address, addressNamed, isSameChat } from '../../core/address.ts'
import { askingAuthor, senderAuthor } from '../../core/author.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import { movedAddress, type TimedMove } from '../../core/chat-move.ts'
import { textOf } from '../../core/content.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import type { ForgetTarget, ForgottenPlace } from '../../core/forgetting.ts'
import type { ChannelId, MediaId, PersonId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import { type AuthorId, NOBODY } from '../../core/platform-id.ts'
import type { ReceivedRow, SentRow } from '../../store/forget-port.ts'
import { isSaidIn, type LogOrigin, liesIn } from './origin.ts'
import { ownName } from './own-quotes.ts'
import { isOneMessage, isQuoteOf } from './same-message.ts'

type Traits = Pick<Channels, 'traits'>

/** Finds what a target means, in logs and among what was received. Ids decide, never names. */
export interface Matches {
  /** Returns true for a message that is to be forgotten. */
  isMessage(data: UserMessageData, at: number, origin: LogOrigin): boolean
  /** Returns true for a message that quotes or passes on what is to be forgotten. */
  quotes(data: Pick<UserMessageData, 'quoted' | 'forwarded'>, chat: Chat | undefined, at: number): boolean
  /** Returns true where everything is to be forgotten, whoever said or did it. */
  isWhole(at: number, origin: LogOrigin): boolean
  isReceived(row: ReceivedRow): boolean
  isSent(row: Pick<SentRow, 'address' | 'sessionId' | 'at'>): boolean
  /** The chats that got a new id. */
  readonly moves: readonly TimedMove[]
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
type Chat = Address

/** The facts that are there before logs are read. */
export interface TargetFacts {
  /** The messages that the target names; what else is of these comes to it while it is found. */
  readonly rows?: readonly ReceivedRow[]
  /** The chats that got a new id, by which a place is named: rows from before have the old one. */
  readonly moves?: readonly TimedMove[]
  /** When the chats of the messages that the target names got their ids: numbers of messages began anew then. */
  readonly renumbered?: readonly number[]
  /** The names of the messages received so far that are meant. */
  readonly received?: ReadonlySet<string>
}

const NOTHING: ReadonlySet<string> = new Set()

export function matchesOf(
  target: ForgetTarget,
  { rows = [], moves = [], renumbered = [], received = NOTHING }: TargetFacts,
  channels: Traits,
): Matches {
  const now = (address: Address): Address => (moves.length === 0 ? address : moves.reduce(movedAddress, address))
  const chats = { channels, moves }
  const lies = (place: ForgottenPlace, address: Address): boolean => liesIn(place, now(address))
  const isOneNumbering = (one: ReceivedRow, at: number): boolean =>
    renumbered.every((time) => one.dispatch.receivedAt < time === at < time)
  /** In a log that joins chats, whose numbers are each of one chat, a message names its own. */
  const isInItsChat = ({ dispatch }: ReceivedRow, { chat }: UserMessageData): boolean => {
    const named = chat === undefined ? dispatch.event.address : addressNamed(chat)
    return named !== undefined && isSameChat(now(dispatch.event.address), now(named))
  }
  /** A log that topics share does not say in which something was said: what was received there does. */
  const isSaid = (place: ForgottenPlace, origin: LogOrigin, data: UserMessageData): boolean => {
    const said = chatIn(data, origin)
    const named = data.chat === undefined ? undefined : said
    const isNowhere = data.chat !== undefined && named === undefined
    if (!isNowhere && isSaidIn(place, origin, named && now(named))) return true
    const at = place.topic === undefined && !place.root ? undefined : said
    return at !== undefined && data.messageId !== undefined && received.has(ownName(at, data.messageId))
  }
  const inTime = (at: number): boolean => at >= (target.since ?? 0) && at < target.before
  const { isTheirs, isNamed } = personOf(target, channels)
  return {
    moves,
    isMessage(data, at, origin) {
      switch (target.kind) {
        case 'message':
          return rows.some((row) => isOf(row, data, origin) && isInItsChat(row, data) && isOneNumbering(row, at))
        case 'person': {
          if (!inTime(at) || (target.place && !isSaid(target.place, origin, data))) return false
          const channel = chatIn(data, origin)?.channel
          return isTheirs(data.sender, channel) || isNamed(data.person, channel)
        }
        case 'chat':
          return inTime(at) && isSaid(target.place, origin, data)
        case 'session':
          return inTime(at) && isOfSessions(target, origin)
      }
    },
    quotes({ quoted, forwarded }, chat, at) {
      if (target.kind === 'message') {
        const messages = rows.filter((row) => isOneNumbering(row, at))
        return chat !== undefined && isQuoteOf(messages, quoted, chat, chats)
      }
      return isTheirs(quoted?.sender, chat?.channel) || isTheirs(forwarded?.from, chat?.channel)
    },
    isWhole: (at, origin) =>
      inTime(at) &&
      ((target.kind === 'chat' && isSaidIn(target.place, origin)) ||
        (target.kind === 'session' && isOfSessions(target, origin))),
    isReceived(row) {
      const { dispatch, decision } = row
      const { address, sender } = dispatch.event
      switch (target.kind) {
        case 'message':
          return rows.some((one) => isOneMessage(one, row, chats))
        case 'person':
          if (!inTime(dispatch.receivedAt) || (target.place && !lies(target.place, address))) return false
          return (
            isTheirs(sender, address.channel) ||
            (dispatch.origin === 'platform' && isNamed(decision.identity.person, address.channel))
          )
        case 'chat':
          return inTime(dispatch.receivedAt) && lies(target.place, address)
        case 'session':
          return inTime(dispatch.receivedAt) && isReceivedBy(target, row)
      }
    },
    isSent: ({ address, sessionId, at }) =>
      inTime(at) &&
      ((target.kind === 'chat' && lies(target.place, address)) ||
        (target.kind === 'session' && sessionId !== undefined && target.sessions.includes(sessionId))),
  }
}

function personOf(target: ForgetTarget, channels: Traits) {
  const { ids: list, person: named } = target.kind === 'person' ? target : { ids: [], person: undefined }
  const ids = new Set<AuthorId>(list)
  return {
    isTheirs: (sender: Sender | undefined, channel: ChannelId | undefined): boolean =>
      sender !== undefined && channel !== undefined && ids.has(senderAuthor(channels, channel, sender)),
    // On a platform the ids of today decide: one that was theirs when it was said may be somebody else's by now.
    isNamed: (person: PersonId | undefined, channel: ChannelId | undefined): boolean =>
      named !== undefined && named === person && (channel === undefined || OWN_CHANNELS.includes(channel)),
  }
}

type SessionTarget = Extract<ForgetTarget, { kind: 'session' }>

/** Words of a session go from its copies; words that it has by a fork or a move go from it alone. */
function isOfSessions({ sessions }: SessionTarget, { session, log }: LogOrigin): boolean {
  return sessions.includes(session) || sessions.includes(log)
}

/** A command is in no session: it is known by the key under which it would have been. */
function isReceivedBy({ sessions, commands }: SessionTarget, { sessionId, decision, dispatch }: ReceivedRow): boolean {
  if (sessionId !== undefined) return sessions.includes(sessionId)
  if (decision.kind !== 'control' || decision.route.scopeKey !== commands.scopeKey) return false
  return dispatch.receivedAt >= commands.since && dispatch.receivedAt < commands.before
}

/** Returns the chat in which a message of a log was said, or undefined: nothing says it, or no address does. */
export function chatIn({ chat }: UserMessageData, { address }: LogOrigin): Chat | undefined {
  return chat === undefined ? address : addressNamed(chat)
}

/** Returns the id of the message that an event is; empty where it is none. */
export function nameIn({ type, data }: SessionEvent): string {
  return type === 'user_message' ? (data.messageId ?? '') : ''
}

/** A message is known by its row, and where it owed no turn by its id, its sender and the session it was said in. */
function isOf({ id, sessionId, dispatch: { event } }: ReceivedRow, data: UserMessageData, origin: LogOrigin): boolean {
  if (data.row !== undefined && data.row === id) return true
  if (!('messageId' in event) || data.messageId !== event.messageId || origin.session !== sessionId) return false
  return data.sender.id === event.sender.id
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
