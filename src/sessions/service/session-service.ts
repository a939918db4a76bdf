import type { Address } from '../../core/address.ts'
import type { Caller } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { AgentId, IdSource, SessionId } from '../../core/ids.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { parseCursor } from '../../core/list-cursor.ts'
import type {
  HistoryPage,
  PostAnswer,
  PostRequest,
  SessionDetail,
  SessionHistory,
  SessionList,
  SessionListQuery,
  StartRequest,
} from '../../core/operate-sessions.ts'
import type { Session, SessionIdentity } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import { openSession } from '../turns/open-session.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { draftAt, type Opening } from '../turns/session-draft.ts'
import type { Transcript } from '../view/transcript.ts'
import { isCurrent, patchSession, renameSession, setBoundary } from './change-session.ts'
import { markAllDeleted, purgeSession } from './delete-session.ts'
import { type FindDeps, findInUse, findSession, namedSession } from './find-session.ts'
import { lastRunOf } from './last-run.ts'
import { ownAddress } from './own-address.ts'
import { type FurtherPosting, type PostDeps, type Posting, postText } from './post-text.ts'
import { isOwner, noSuchSession, reachedBy, reaches } from './session-access.ts'
import { eventReport, listReport, type Standing, sessionDetail } from './session-report.ts'
import type { StartRules } from './start-request.ts'
import { startSessionOf } from './start-session.ts'
import { withTasks } from './with-tasks.ts'

/**
 * The one service every entrance uses for sessions: the operator's commands, the API, the console, the session tools.
 * Each call names the caller. A session the caller may not see is `not_found`, like one that does not exist; an action
 * the caller may not do on a visible session is `forbidden`.
 */
export interface SessionService {
  /**
   * Opens or makes a session named `cli:<name>`, `web:<device>` or `api:<name>` (S2, S11). Other sessions must exist.
   */
  open(caller: Caller, name: string): Promise<SessionDetail>
  /**
   * Begins a session of a client with an agent of its own, once (C1, C3): `conflict` if there is one of that name.
   * Throws `invalid` for an agent, a model or tools that it cannot have, and `unavailable` without a daemon.
   */
  start(caller: Caller, request: StartRequest): Promise<SessionDetail>
  /** Returns the session of a name, as it is stored. */
  locate(caller: Caller, name: string): Promise<Session>
  get(caller: Caller, name: string): Promise<SessionDetail>
  list(caller: Caller, query: SessionListQuery): Promise<SessionList>
  /** Returns the `limit` (1-200) events before number `before`, in order; the newest without it. */
  history(caller: Caller, name: string, page: HistoryPage): Promise<SessionHistory>
  /** Sets overrides; only an owner may (T29, T37). Throws `invalid` for a field or value it does not know. */
  patch(caller: Caller, name: string, changes: unknown): Promise<SessionDetail>
  /**
   * Changes what the model is shown of earlier turns, from its next turn on; the log keeps everything (K33-K36). Only
   * an owner may. Throws `invalid`.
   */
  setHistory(caller: Caller, name: string, boundary: unknown): Promise<SessionDetail>
  /** Sets a description of one line and 80 characters at most, which only another renaming replaces (R3). */
  rename(caller: Caller, name: string, title: string): Promise<SessionDetail>
  /** Posts a text, and makes the session if it is one of this entrance and does not exist; see `postText`. */
  post(caller: Caller, name: string, request: PostRequest, further?: FurtherPosting): Promise<PostAnswer>
  /**
   * Deletes an idle direct session (S40); only an owner may delete one that joins people's chats. Throws `conflict` or
   * `forbidden`.
   */
  delete(caller: Caller, name: string): Promise<void>
}

export interface SessionServiceDeps extends FindDeps, Pick<PostDeps, 'refusesAgent'> {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  /** The time without a message after which a session counts as inactive (S12). */
  readonly staleMs: number
  /** Returns why an agent may not use a model; undefined if it may. */
  refusesModel(agent: AgentId, model: string): string | undefined
  /** Absent where the store was opened without a daemon. */
  readonly daemon?: DaemonSessions
}

/** The state a running daemon keeps of its sessions in memory, and its entrance. */
export interface DaemonSessions extends Pick<PostDeps, 'accept' | 'posts' | 'whoIs'> {
  readonly ids: IdSource
  readonly running: Pick<RunningTurns, 'has' | 'nextEnd' | 'draining'>
  /** Says whether a turn of the session waits for an approval. */
  readonly approvals: { waits(session: SessionId): boolean }
  readonly overrides: OverridesCache
  readonly transcript: Pick<Transcript, 'drop'>
  /**
   * Returns the opening of the session at an address: whoever writes there finds it. An agent that is named goes before
   * the rules.
   */
  place(address: Address, agent?: AgentId): Opening
  /** The rules for what a client gives at the start of a session. */
  readonly models: StartRules
}

const SHOWN_EVENTS = 50
const PAGE = { least: 1, most: 200 }

export function createSessionService(deps: SessionServiceDeps): SessionService {
  return new Service(deps)
}

class Service implements SessionService {
  readonly #deps: SessionServiceDeps
  locate = (caller: Caller, name: string): Promise<Session> => findSession(caller, name, this.#deps)

  constructor(deps: SessionServiceDeps) {
    this.#deps = deps
  }

  async open(caller: Caller, name: string): Promise<SessionDetail> {
    const { store, clock, channels, daemon } = this.#deps
    const known = await namedSession(caller, name, this.#deps)
    if (known) {
      const used = await findInUse(caller, name, this.#deps)
      await store.write((tx) => tx.sessions.reopen(used.id, {}, clock.now()))
      return this.#showAgain(used)
    }
    const address = ownAddress(caller, name)
    if (!daemon) throw new ParleyError('unavailable', 'No daemon is running; "parley start" opens sessions.')
    const opening = daemon.place(address)
    const opened = await store.write(async (tx) => {
      const session = await openSession(tx, opening, { ...daemon, channels })
      // A session that chats share may lie beyond the caller's names.
      if (!(await reaches(caller, session, this.#deps))) throw noSuchSession(name)
      return session
    })
    return this.#showAgain(opened)
  }

  async start(caller: Caller, request: StartRequest): Promise<SessionDetail> {
    return this.#showAgain(await startSessionOf(caller, request, this.#deps))
  }

  async get(caller: Caller, name: string): Promise<SessionDetail> {
    return this.#show(await findSession(caller, name, this.#deps))
  }

  async list(caller: Caller, query: SessionListQuery): Promise<SessionList> {
    const { cursor, ...asked } = query
    if (cursor !== undefined && asked.offset > 0)
      throw new ParleyError('invalid', '"cursor" and "offset" are not for one page: a cursor says where it begins')
    const after = cursor === undefined ? {} : { after: parseCursor(cursor) }
    const activeSince = asked.inactive ? {} : { activeSince: this.#activeSince() }
    const reached = await reachedBy(caller, this.#deps)
    const page = await withTasks(this.#deps.store.read, { ...asked, ...after, ...activeSince, ...reached })
    return listReport(page, (session) => this.#standing(session))
  }

  async history(caller: Caller, name: string, { limit, before }: HistoryPage): Promise<SessionHistory> {
    if (!Number.isInteger(limit) || limit < PAGE.least || limit > PAGE.most)
      throw new ParleyError('invalid', `limit must be ${PAGE.least} to ${PAGE.most}`)
    const { id, lastSeq } = await findSession(caller, name, this.#deps)
    // The numbers have no gap (C23), so a page is known by its first.
    const end = Math.min(before ?? Number.POSITIVE_INFINITY, lastSeq + 1)
    const from = Math.max(end - limit, 1)
    const events = end <= from ? [] : await this.#deps.store.read.events.since(id, from - 1, end - from)
    return {
      session: id,
      events: events.map(eventReport),
      total: lastSeq,
      ...(from > 1 && end > from ? { before: from } : {}),
    }
  }

  async patch(caller: Caller, name: string, changes: unknown): Promise<SessionDetail> {
    return this.#showAgain(await patchSession(caller, name, changes, this.#deps))
  }

  async setHistory(caller: Caller, name: string, boundary: unknown): Promise<SessionDetail> {
    return this.#showAgain(await setBoundary(caller, name, boundary, this.#deps))
  }

  async rename(caller: Caller, name: string, title: string): Promise<SessionDetail> {
    return this.#showAgain(await renameSession(caller, name, title, this.#deps))
  }

  async post(caller: Caller, name: string, request: PostRequest, further: FurtherPosting = {}): Promise<PostAnswer> {
    const { daemon, ...deps } = this.#deps
    if (!daemon) throw new ParleyError('unavailable', 'No daemon is running; "parley start" answers.')
    if (daemon.running.draining) throw new ParleyError('unavailable', 'The daemon is shutting down; post it again.')
    const known = await namedSession(caller, name, this.#deps)
    const into = known
      ? { session: await findInUse(caller, name, this.#deps), begins: false }
      : await this.#atOwnChannel(caller, name, { daemon, agent: further.agent })
    return postText({ ...daemon, ...deps }, { ...into, caller, request, further })
  }

  async delete(caller: Caller, name: string): Promise<void> {
    const { store, clock, channels, daemon } = this.#deps
    const session = await findSession(caller, name, this.#deps)
    if (!isOwner(caller) && joinsPeople(channels, session))
      throw new ParleyError('forbidden', 'Only an owner may delete a session that people of several chats share.')
    const { current, all } = await store.write(async (tx) => {
      const now = await tx.sessions.get(session.id)
      if (!now) throw noSuchSession(name)
      const current = await isCurrent(tx, now)
      return { current, all: await markAllDeleted(tx, now, clock.now()) }
    })
    for (const { session: one, purgeId } of all) {
      daemon?.overrides.forget(one, one.id !== session.id || current)
      daemon?.transcript.drop(one.id)
      await purgeSession(store, purgeId)
    }
  }

  /**
   * Returns the session of a client's own name: one that other chats share, or a draft of one that begins with this
   * text.
   */
  async #atOwnChannel(
    caller: Caller,
    name: string,
    { daemon, agent }: { readonly daemon: DaemonSessions; readonly agent: AgentId | undefined },
  ): Promise<Pick<Posting, 'session' | 'begins'>> {
    const opening = daemon.place(ownAddress(caller, name), agent)
    const shared = await this.#deps.store.read.sessions.current(opening.route.scopeKey)
    if (!shared) {
      const session = draftAt(opening, { ids: daemon.ids, channels: this.#deps.channels })
      if (!(await reaches(caller, session, this.#deps))) throw noSuchSession(name)
      return { session, begins: true }
    }
    await this.open(caller, name)
    return { session: shared, begins: false }
  }

  async #show(session: Session): Promise<SessionDetail> {
    const { read } = this.#deps.store
    const [first] = await read.events.since(session.id, 0, 1)
    return sessionDetail(session, this.#standing(session), {
      ...(first?.type === 'session_started' ? { start: first.data } : {}),
      events: await read.events.latest(session.id, SHOWN_EVENTS),
      aliases: await read.aliases.of(session.scopeKey),
      participants: await read.participants.of(session.id),
      lastRun: await lastRunOf(read, session.id),
    })
  }

  /** Returns the session as it is after a change. */
  async #showAgain({ id }: SessionIdentity): Promise<SessionDetail> {
    const session = await this.#deps.store.read.sessions.get(id)
    if (!session) throw noSuchSession(id)
    return this.#show(session)
  }

  #standing({ id }: Session): Standing {
    const { daemon } = this.#deps
    const [running, awaiting] = [daemon?.running.has(id) ?? false, daemon?.approvals.waits(id) ?? false]
    return { running, awaiting, activeSince: this.#activeSince() }
  }

  #activeSince(): number {
    const { clock, staleMs } = this.#deps
    return clock.now() - staleMs
  }
}
