import { type Address, addressNamed, formatAddress, isSameChat } from '../core/address.ts'
import { amended, saidHere } from '../core/amended.ts'
import type { Identity } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { SessionEvent } from '../core/event.ts'
import { isLeaving } from '../core/forgetting.ts'
import type { AgentId, ChannelId, SessionId } from '../core/ids.ts'
import type { DigestReading } from '../core/schedule.ts'
import type { Session } from '../core/session.ts'
import { normalName } from '../core/session-alias.ts'
import type { Store } from '../store/store.ts'
import { type DigestLine, digestLine, digestText } from './digest-text.ts'

/** The most sessions of one conversation: its topics, its separate members, the agents that answer there. */
const MOST_SESSIONS = 100
/** The most events read in each session: far more than a digest shows. */
const MOST_EVENTS = 1_000

export interface DigestRequest {
  readonly of: Address
  readonly timezone: string
  /** The person who made the schedule: an owner may read any conversation, a member those they take part in. */
  readonly creator: Identity
  /** The positions up to which the last completed run read; empty before the first. */
  readonly since: DigestReading
  /** The agents that may have a session there. */
  readonly agents: readonly AgentId[]
  /** The channels whose ids are case-sensitive. */
  readonly caseSensitive: readonly ChannelId[]
  /** Returns the session that holds a chat with others, or a topic with the rest of its chat; undefined for none. */
  joinedAt(this: void, address: Address): Promise<Session | undefined>
  /** Returns the present address of a place. */
  follow(this: void, address: Address): Address
}

export interface Digest {
  readonly text: string
  readonly reading: DigestReading
  /** The sessions that it is made of. */
  readonly sessions: readonly SessionId[]
}

/**
 * Returns the messages of a conversation and its topics that no completed run has read. Throws `forbidden`, with the
 * reason, when the schedule's creator may not read them.
 */
export async function readDigest(read: Store['read'], request: DigestRequest): Promise<Digest> {
  const lines: DigestLine[] = []
  const reading: Record<SessionId, number> = { ...request.since }
  const joined = await request.joinedAt(request.of)
  const own = (await sessionsOf(read, request)).filter(({ id }) => id !== joined?.id)
  const sessions = joined === undefined ? own : [...own, joined]
  const name = formatAddress(request.of).toLowerCase()
  let readable = 0
  for (const session of sessions) {
    const events = await read.events.latest(session.id, MOST_EVENTS)
    const isJoined = session.id === joined?.id
    const here = isJoined ? await ofPlace(read, saidHere(events), { session, ...request }) : saidHere(events)
    const leaving = await read.forgetting.leaving(session.id)
    if (!mayRead(request.creator, here)) continue
    readable++
    const after = request.since[session.id] ?? 0
    const later = amended(here).filter((event) => event.seq > after && !isLeaving(event, leaving))
    lines.push(...later.flatMap((event) => digestLine(event, isJoined ? name : placeOf(session)) ?? []))
    reading[session.id] = events.at(-1)?.seq ?? after
  }
  if (readable === 0 && request.creator.role !== 'owner') throw refusal(request)
  lines.sort((a, b) => a.at - b.at)
  const text = digestText(request.of, lines, request.timezone)
  return { text, reading, sessions: sessions.map(({ id }) => id) }
}

async function sessionsOf(
  read: Store['read'],
  { of, agents, caseSensitive }: DigestRequest,
): Promise<readonly Session[]> {
  const name = normalName(formatAddress(of), caseSensitive)
  const keys = [name, ...agents.map((agent) => `agent:${agent}:${name}`)]
  const found = await Promise.all(keys.map((key) => read.sessions.under(key, MOST_SESSIONS)))
  return found.flat()
}

interface Place extends Pick<DigestRequest, 'of' | 'follow'> {
  readonly session: Session
}

/**
 * Returns the events of a place: a log that joins chats has those of the others too. There a message names its chat, as
 * that was called then, and an answer stands where its turn has answered; of what was posted, nothing says it.
 */
async function ofPlace(
  read: Pick<Store['read'], 'turns' | 'inbox'>,
  events: readonly SessionEvent[],
  place: Place,
): Promise<readonly SessionEvent[]> {
  const found: SessionEvent[] = []
  for (const event of events) {
    if (event.type === 'assistant_posted') continue
    const turn = event.type === 'assistant_message' && event.turnId ? await read.turns.get(event.turnId) : undefined
    if (turn !== undefined ? isIn(turn.reply.address, place) : !isSaid(event) || (await isSaidIn(read, event, place)))
      found.push(event)
  }
  return found
}

/**
 * A message does not name its topic: the record of what was received in its chat does. Another chat of the session, or
 * the group before it got a new id, has messages of the same numbers.
 */
async function isSaidIn(
  { inbox }: Pick<Store['read'], 'inbox'>,
  { data: { chat, messageId } }: Said,
  place: Place,
): Promise<boolean> {
  const { topic, ...of } = place.of
  const named = chat === undefined ? undefined : addressNamed(chat)
  const isOfChat = chat === undefined && place.session.scope.dimensions.includes('chat')
  const isHere = isOfChat || (named !== undefined && isIn(named, { ...place, of }))
  if (topic === undefined || !isHere) return isHere
  const rows = messageId === undefined ? [] : await inbox.inSession(place.session.id, messageId)
  const received = rows.map(({ dispatch: { event } }) => event.address)
  return received.some((address) => (chat === undefined || chatNamed(address) === chat) && isIn(address, place))
}

function chatNamed({ topic: _topic, ...chat }: Address): string {
  return formatAddress(chat)
}

type Said = Extract<SessionEvent, { type: 'user_message' | 'message_edited' }>

function isSaid(event: SessionEvent): event is Said {
  return event.type === 'user_message' || event.type === 'message_edited'
}

function isIn(then: Address, { of, follow }: Pick<Place, 'of' | 'follow'>): boolean {
  const at = follow(then)
  return isSameChat(at, of) && (of.topic === undefined || at.topic === of.topic)
}

/** Sessions of an agent other than the default one have it before their place. */
function placeOf({ displayKey, agentId }: Session): string {
  const prefix = `agent:${agentId}:`
  return displayKey.startsWith(prefix) ? displayKey.slice(prefix.length) : displayKey
}

function mayRead({ role, person }: Identity, events: readonly SessionEvent[]): boolean {
  if (role === 'owner') return true
  if (role === 'guest' || person === undefined) return false
  return events.some((event) => event.type === 'user_message' && event.data.person === person)
}

function refusal({ of, creator }: DigestRequest): ParleyError {
  const who = creator.person ?? 'its creator'
  return new ParleyError('forbidden', `${who} takes no part in ${formatAddress(of)} and may not have it read`)
}
