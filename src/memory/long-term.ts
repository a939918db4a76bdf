import type { Clock } from '../core/clock.ts'
import { isDoneBefore, markDone } from '../core/done-before.ts'
import { ParleyError } from '../core/errors.ts'
import { refuseForgotten } from '../core/forgetting.ts'
import type { AgentId, SessionId } from '../core/ids.ts'
import {
  MEMORY_LIMITS,
  type MemoryAsker,
  type MemoryDesk,
  type MemoryEntry,
  type MemoryTools,
  type ShownEntry,
} from '../core/memory.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { Session } from '../core/session.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { Principal } from '../core/turn.ts'
import type { MessageRef, SearchQuery } from '../store/memory-port.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { shortened } from './memory-text.ts'
import { likeIn, sliceOf } from './slice.ts'
import { workingNow } from './working-now.ts'

/** The authority of a turn over memory, as it is at this moment. */
export interface TurnReach {
  /** Everybody whose words the turn was shown. */
  readonly authors: readonly AuthorId[]
  /** Its answer is said in its own conversation and nowhere else. */
  readonly here: boolean
  /** The messages that it answers. */
  readonly messages: readonly MessageRef[]
  /** Returns true if everybody who sees the answer may read that session. */
  reads(session: Session): Promise<boolean>
}

export interface LongTermDeps {
  readonly store: Store
  readonly clock: Clock
  turnReach(turn: TurnRef): Promise<TurnReach>
  /** Returns who an author is now. */
  identityOf(author: AuthorId): Promise<Principal>
  /** Returns true if this person may read that session. */
  mayRead(author: AuthorId, session: Session): Promise<boolean>
  has(agent: AgentId): boolean
}

export type LongTerm = MemoryTools & Omit<MemoryDesk, 'checkpoint'>

const MOST_FOUND = 50
/** The newest entries that are looked through for those that somebody may see. */
const MOST_ENTRIES = 1_000
/** The newest events that are looked through for the messages that a text is made of. */
const MOST_EVENTS = 1_000

/**
 * Long-term memory. An entry goes where its session goes: whoever may read that today may be shown it, so that what was
 * said in private appears in no group. Inside one shared conversation it also outlives `/new`.
 */
export function createLongTerm(deps: LongTermDeps): LongTerm {
  const { store, clock, has } = deps
  const { read } = store
  return {
    async search({ words, limit }, turn) {
      const reach = await deps.turnReach(turn)
      const found = await lookUp(deps, await turnSessions(deps, turn, reach), {
        words,
        limit: Math.min(limit, MOST_FOUND),
      })
      return { entries: found.map(shown), authors: [...new Set(found.flatMap(({ authors }) => authors))] }
    },
    async save(text, turn, key) {
      const { authors, messages } = await deps.turnReach(turn)
      const { agentId, sessionId } = turn
      const entry = { agentId, sessionId, authors, text: checked(text), at: clock.now() }
      // The turn may be asked to keep what somebody has said before it.
      const said = sliceOf(await read.events.latest(sessionId, MOST_EVENTS))
      const sources = [...messages, ...likeIn(said, entry.text)]
      const saved = store.write(async (tx) => {
        await refuseForgotten(tx, turn.id)
        return tx.memory.add({ ...entry, by: 'agent', request: `tool ${key}`, sources })
      })
      return shown(await saved)
    },
    async forget(no, turn, key) {
      if (await isRemoved(deps, no, `tool ${key}`)) return
      const reach = await deps.turnReach(turn)
      const entry = await named(deps, no, await turnSessions(deps, turn, reach))
      for (const author of reach.authors) if (!(await mayChange(deps, author, entry))) throw notTheirs(no)
      if (reach.authors.length === 0) throw notTheirs(no)
      await removeOnce(deps, no, `tool ${key}`)
    },
    async list(asker, words, limit) {
      // Most may be the entries of others.
      const most = asker.joined ? MOST_ENTRIES : bounded(limit)
      const found = await lookUp(deps, await askerSessions(deps, asker), { words, limit: most })
      const mine = await Promise.all(found.map(async (entry) => ((await isSeen(deps, asker, entry)) ? [entry] : [])))
      return mine.flat().slice(0, bounded(limit)).map(shown)
    },
    async remember({ author, sessionId }, text, key) {
      const session = await sessionOf(deps, sessionId)
      const entry = { agentId: session.agentId, sessionId, authors: [author], text: checked(text), at: clock.now() }
      return shown(
        await store.write((tx) => tx.memory.add({ ...entry, by: 'person', request: `command ${key}`, sources: [] })),
      )
    },
    async correct(asker, no, text) {
      const entry = await changeable(deps, asker, no)
      await refuseElsewhere(deps, asker, entry)
      const changed = { text: checked(text), authors: [asker.author], by: 'person', at: clock.now() } as const
      if (!(await store.write((tx) => tx.memory.change(no, { ...changed, sources: [] })))) throw absent(no)
      return shown({ ...entry, ...changed })
    },
    async remove(asker, no, key) {
      if (await isRemoved(deps, no, `command ${key}`)) return undefined
      const entry = await changeable(deps, asker, no)
      await removeOnce(deps, no, `command ${key}`)
      return shown(entry)
    },
    async working(asker) {
      const { sessionId: id } = asker
      if (await seesOwnOnly(deps, asker)) return undefined
      return (await workingNow(read, id, await read.events.latestCheckpoint(id)))?.working
    },
    has,
  }
}

/** Returns true if a request that runs again after a crash has removed an entry before. */
async function isRemoved({ store }: LongTermDeps, no: number, request: string): Promise<boolean> {
  // Nearly always it is there still, and nothing has to be written.
  if ((await store.read.memory.get(no)) !== undefined) return false
  return store.write((tx) => isDoneBefore(tx, request))
}

async function removeOnce({ store, clock }: LongTermDeps, no: number, request: string): Promise<void> {
  await store.write(async (tx) => {
    if (!(await tx.memory.remove(no))) throw absent(no)
    await markDone(tx, request, clock.now())
  })
}

function shown({ no, text, at }: MemoryEntry): ShownEntry {
  return { no, text, at }
}

/** Throws `invalid` for an empty text and for one that is too long. */
function checked(text: string): string {
  const longest = MEMORY_LIMITS.entry
  const kept = shortened(text, longest + 1)
  if (kept === '') throw new ParleyError('invalid', 'There is nothing to remember in that.')
  if (kept.length > longest) throw new ParleyError('invalid', `An entry has ${longest} characters at most.`)
  return kept
}

function bounded(limit: number): number {
  return Math.min(Math.max(1, Math.floor(limit)), MOST_FOUND)
}

async function lookUp(
  { store: { read } }: LongTermDeps,
  sessions: readonly SessionId[],
  { words, limit }: { readonly words: string; readonly limit: number },
): Promise<readonly MemoryEntry[]> {
  if (words.trim() === '') return read.memory.newest(sessions, limit)
  return entriesFound(read, { words, sessions, limit })
}

/** Returns the entries that have these words. */
export async function entriesFound(
  { search, memory }: Pick<StoreReader, 'search' | 'memory'>,
  query: Omit<SearchQuery, 'of'>,
): Promise<readonly MemoryEntry[]> {
  const hits = await search.find({ ...query, of: 'entries' })
  const entries = await Promise.all(hits.map(({ entry = 0 }) => memory.get(entry)))
  return entries.filter((entry) => entry !== undefined)
}

async function turnSessions(
  deps: LongTermDeps,
  { sessionId, agentId }: TurnRef,
  { here, reads }: TurnReach,
): Promise<readonly SessionId[]> {
  const own = await sessionOf(deps, sessionId)
  return among(deps, agentId, async (session) => isSame(session, own, here) || reads(session))
}

async function askerSessions(
  deps: LongTermDeps,
  { author, sessionId, shared }: MemoryAsker,
): Promise<readonly SessionId[]> {
  const own = await sessionOf(deps, sessionId)
  const reads = (session: Session): Promise<boolean> => deps.mayRead(author, session)
  return among(deps, own.agentId, async (session) => isSame(session, own, true) || (!shared && reads(session)))
}

/** A session, and earlier ones of the same shared conversation, which `/new` ended. */
function isSame(session: Session, own: Session, here: boolean): boolean {
  return session.id === own.id || (here && own.chatType !== 'direct' && session.scopeKey === own.scopeKey)
}

async function among(
  { store: { read } }: LongTermDeps,
  agent: AgentId,
  may: (session: Session) => Promise<boolean>,
): Promise<readonly SessionId[]> {
  const allowed: SessionId[] = []
  for (const id of await read.memory.sessions(agent)) {
    const session = await read.sessions.get(id)
    if (session && (await may(session))) allowed.push(id)
  }
  return allowed
}

async function sessionOf({ store: { read } }: LongTermDeps, id: SessionId): Promise<Session> {
  const session = await read.sessions.get(id)
  if (session === undefined) throw new ParleyError('not_found', `There is no session ${id}.`)
  return session
}

async function named(deps: LongTermDeps, no: number, sessions: readonly SessionId[]): Promise<MemoryEntry> {
  const entry = await deps.store.read.memory.get(no)
  if (entry === undefined || !sessions.includes(entry.sessionId)) throw absent(no)
  return entry
}

/** Returns whether an asker may see an entry of a session that they read. */
async function isSeen(deps: LongTermDeps, asker: MemoryAsker, { authors }: MemoryEntry): Promise<boolean> {
  return !(await seesOwnOnly(deps, asker)) || isOnly(deps, asker.author, authors)
}

/** Returns true for an asker who sees their own entries alone: the session joins people of different chats. */
async function seesOwnOnly({ identityOf }: LongTermDeps, { author, joined }: MemoryAsker): Promise<boolean> {
  return joined === true && (await identityOf(author)).role !== 'owner'
}

async function changeable(deps: LongTermDeps, asker: MemoryAsker, no: number): Promise<MemoryEntry> {
  const entry = await named(deps, no, await askerSessions(deps, asker))
  if (!(await isSeen(deps, asker, entry))) throw absent(no)
  if (await mayChange(deps, asker.author, entry)) return entry
  throw notTheirs(no)
}

/** Throws `forbidden` if people of the entry's conversation who do not read this one could read the new text. */
async function refuseElsewhere(deps: LongTermDeps, { author, sessionId }: MemoryAsker, entry: MemoryEntry) {
  const [session, own] = [await sessionOf(deps, entry.sessionId), await sessionOf(deps, sessionId)]
  if (isSame(session, own, true)) return
  const people = [...entry.authors, ...(await deps.store.read.participants.of(session.id))]
  if (session.chatType === 'direct' && (await isOnly(deps, author, people))) return
  throw new ParleyError(
    'forbidden',
    `Number ${entry.no} is of another conversation, whose people could read what you write: correct it there, or remove it.`,
  )
}

/** An owner may, and whoever is the only author by today's identities. */
async function mayChange(deps: LongTermDeps, author: AuthorId, { authors }: MemoryEntry): Promise<boolean> {
  return (await deps.identityOf(author)).role === 'owner' || isOnly(deps, author, authors)
}

/** Returns true if all of them are this person, by today's identities. */
async function isOnly({ identityOf }: LongTermDeps, author: AuthorId, all: readonly AuthorId[]): Promise<boolean> {
  const { person } = await identityOf(author)
  const people = await Promise.all(all.map(async (one) => (await identityOf(one)).person))
  return person !== undefined && people.length > 0 && people.every((one) => one === person)
}

function absent(no: number): ParleyError {
  return new ParleyError('not_found', `I remember nothing here under ${no}; \`/memory\` shows the numbers.`)
}

function notTheirs(no: number): ParleyError {
  return new ParleyError('forbidden', `Number ${no} has words of others: only my owner may change it.`)
}
