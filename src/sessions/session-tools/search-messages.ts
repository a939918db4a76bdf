import { amendBackwards } from '../../core/amended.ts'
import { cutText } from '../../core/cut-text.ts'
import type { EventType, SessionEvent, UserMessageData } from '../../core/event.ts'
import { isLeaving } from '../../core/forgetting.ts'
import type { SessionId } from '../../core/ids.ts'
import type { MatchingMessage, MessageQuery, SessionCaller } from '../../core/session-tools.ts'
import type { SearchHit } from '../../store/memory-port.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { messagesOf } from '../service/history-message.ts'
import { messageName } from '../turns/user-message.ts'
import { clamp } from './clamp.ts'
import { indexSession } from './index-messages.ts'
import type { CallerReach, Reach } from './reach.ts'
import { shownKey } from './shown-key.ts'

export interface SearchDeps {
  readonly read: StoreReader
  readonly write: Store['write']
  readonly reach: Reach
}

const FOUND = { fallback: 10, least: 1, most: 50 }
/** Characters of a message that is found. */
const LONGEST = 500
/** Hits that are looked at for each that is wanted: some are out of reach. */
const HITS_EACH = 10
/** Sessions of somebody who is no owner, and the events that one search indexes at most; the next continues. */
const MOST_SESSIONS = 1_000
const MOST_INDEXED = 20_000
const PAGE = 200

/**
 * Finds messages in the sessions that the caller may read, judged as for the history of each. What was said since the
 * last search is indexed first.
 */
export async function searchMessages(
  deps: SearchDeps,
  { words, limit }: MessageQuery,
  caller: SessionCaller,
): Promise<readonly MatchingMessage[]> {
  const { read } = deps
  const reach = await deps.reach.of(caller)
  const most = clamp(limit, FOUND)
  const sessions = await withinReach(deps, caller, reach)
  await catchUp(deps, sessions)
  const among = sessions === undefined ? {} : { sessions }
  const query = { words, of: 'messages', limit: most * HITS_EACH, ...among } as const
  let hits = await read.search.find(query)
  // Nothing is shown of a session whose newest events, deletions among them, are not indexed.
  if (await catchUpHits(deps, hits)) hits = await read.search.find(query)
  const found: MatchingMessage[] = []
  const asked = await askedIn(deps, caller)
  const looking = { caller, reach, asked, changes: changesOnce(read), shown: new Set<string>() }
  for (const hit of hits) {
    const message = await messageAt(deps, hit, looking)
    if (message) found.push(message)
    if (found.length === most) break
  }
  return found
}

/** Returns the sessions to look in; undefined: in all, of which each hit is judged. */
async function withinReach(
  { read }: SearchDeps,
  { turn }: SessionCaller,
  reach: CallerReach,
): Promise<readonly SessionId[] | undefined> {
  const among = await reach.among()
  if (Object.keys(among).length === 0) return undefined
  const { agents } = reach
  const ids = new Set<SessionId>(turn === undefined ? [] : [turn.sessionId])
  const query = { ...among, inactive: true, ...(agents === undefined ? {} : { agents }) }
  for (let offset = 0; offset < MOST_SESSIONS; offset += PAGE) {
    const page = await read.sessions.list({ ...query, limit: PAGE, offset })
    for (const session of page.sessions) if ((await reach.reads(session)).kind === 'allowed') ids.add(session.id)
    if (offset + PAGE >= page.total) break
  }
  return [...ids]
}

async function catchUp({ read, write }: SearchDeps, sessions: readonly SessionId[] | undefined): Promise<void> {
  let left = MOST_INDEXED
  for (const session of sessions ?? (await read.search.behind(0, MOST_SESSIONS))) {
    left -= await indexSession({ read, write }, session, left)
    if (left <= 0) return
  }
}

/** Returns true if something was indexed. */
async function catchUpHits({ read, write }: SearchDeps, hits: readonly SearchHit[]): Promise<boolean> {
  let indexed = 0
  for (const session of new Set(hits.map(({ sessionId }) => sessionId)))
    indexed += await indexSession({ read, write }, session, Number.POSITIVE_INFINITY)
  return indexed > 0
}

interface Looking {
  readonly caller: SessionCaller
  readonly reach: CallerReach
  /** The messages that the calling turn answers: they have the words because they ask for them. */
  readonly asked: ReadonlySet<string>
  /** Returns the changes of messages of a session, the newest first. */
  changes(this: void, session: SessionId): Promise<readonly SessionEvent[]>
  /** The messages that are found so far: an edited voice note is one of two events. */
  readonly shown: Set<string>
}

async function askedIn({ read }: SearchDeps, { turn }: SessionCaller): Promise<ReadonlySet<string>> {
  const rows = turn === undefined ? [] : await read.inbox.ofTurn(turn.id)
  return new Set(
    rows.flatMap(({ dispatch: { event }, decision }) =>
      'text' in event && 'route' in decision ? nameOf({ ...messageName(event, decision.route), text: event.text }) : [],
    ),
  )
}

/** Another chat of the session, or the one from which it was copied, has messages of the same numbers. */
function nameOf({ messageId, chat, text }: Pick<UserMessageData, 'messageId' | 'chat' | 'text'>): string {
  return JSON.stringify([messageId, chat, text])
}

function isAsked(
  event: SessionEvent,
  session: SessionId,
  { caller, asked }: Pick<Looking, 'caller' | 'asked'>,
): boolean {
  if (session !== caller.turn?.sessionId || event.type !== 'user_message') return false
  return asked.has(nameOf(event.data))
}

async function messageAt(
  { read }: SearchDeps,
  { sessionId, seq }: SearchHit,
  { caller, reach, asked, changes, shown }: Looking,
): Promise<MatchingMessage | undefined> {
  const session = await read.sessions.get(sessionId)
  if (seq === undefined || session === undefined || (await reach.reads(session)).kind !== 'allowed') return undefined
  const [event] = await read.events.since(sessionId, seq - 1, 1)
  if (event === undefined || event.seq !== seq || isLeaving(event, await read.forgetting.leaving(sessionId)))
    return undefined
  if (isAsked(event, sessionId, { caller, asked })) return undefined
  const now = await asItReads(event, () => changes(sessionId))
  if (now === undefined || isShown(now, sessionId, shown)) return undefined
  // An edit has the words of a message as it reads now.
  const [message] = messagesOf(now.type === 'message_edited' ? { ...now, type: 'user_message' } : now, false)
  if (message === undefined) return undefined
  const text = message.text.length > LONGEST ? `${cutText(message.text, LONGEST)} [cut]` : message.text
  return { sessionKey: shownKey(session, caller), sessionId, ...message, text }
}

/** Notes that a message is shown; returns true if it was before. */
function isShown({ type, data }: SessionEvent, session: SessionId, shown: Set<string>): boolean {
  if ((type !== 'user_message' && type !== 'message_edited') || data.messageId === undefined) return false
  const name = `${session} ${nameOf(data)}`
  if (shown.has(name)) return true
  shown.add(name)
  return false
}

/** Changes of messages that are looked through. */
const MOST_CHANGES = 1_000

/**
 * Returns a message as it reads now: a reply names no file of a message that was deleted or taken back since, and a
 * voice note has the words that are said in it, and those that are written with it by now.
 */
async function asItReads(
  event: SessionEvent,
  changes: () => Promise<readonly SessionEvent[]>,
): Promise<SessionEvent | undefined> {
  if (event.type !== 'user_message' && event.type !== 'message_edited') return event
  const { quoted, attachments = [] } = event.data
  if (quoted === undefined && !attachments.some(({ kind }) => kind === 'voice')) return event
  const amend = amendBackwards()
  for (const later of await changes()) if (later.seq > event.seq) amend(later)
  return amend(event)
}

const CHANGES = [
  'message_edited',
  'message_deleted',
  'exchange_taken_back',
  'history_taken_over',
  'files_read',
] as const satisfies EventType[]

/** Each session's are read once for all that is found there: they may have the texts of many files. */
function changesOnce({ events }: Pick<StoreReader, 'events'>): Looking['changes'] {
  const known = new Map<SessionId, readonly SessionEvent[]>()
  return async (session) => {
    const changes = known.get(session) ?? (await events.latestOf(session, CHANGES, MOST_CHANGES)).toReversed()
    known.set(session, changes)
    return changes
  }
}
