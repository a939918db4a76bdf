import { type Caller, holdsSession } from '../../core/caller.ts'
import type { Clock } from '../../core/clock.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import type { ScopeKey, SessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Followed, FollowRequest, GrownText, LiveEvents, StreamEnd } from '../../core/operate-events.ts'
import type { Session } from '../../core/session.ts'
import { placeOf, type StreamPlace } from '../../core/stream-place.ts'
import type { PlacedEvent } from '../../store/event-port.ts'
import type { StoreReader, StoreWatch } from '../../store/store.ts'
import { EventFeed, type FeedItem, type FeedMember } from './event-feed.ts'
import { LiveTexts } from './live-texts.ts'
import { OpenStreams } from './open-streams.ts'
import { isOwner } from './session-access.ts'
import { eventReport } from './session-report.ts'
import type { SessionService } from './session-service.ts'

export interface LiveHubDeps {
  readonly read: Pick<StoreReader, 'events' | 'lists' | 'sessions'>
  readonly clock: Clock
  readonly logger: Logger
  readonly sessions: Pick<SessionService, 'locate'>
}

/** The live streams of a daemon. */
export interface LiveHub {
  /** Returns the streams as somebody may read them. */
  of(caller: Caller): LiveEvents
  /** Called with each commit. */
  readonly watch: StoreWatch
  /** Called whenever an answer has grown; cheap. */
  grew(this: void, text: GrownText): void
  /** The number of streams that are open now. */
  readonly readers: number
  /** Ends every stream, and refuses further ones. */
  stop(): void
}

/** The feed of one session. */
interface SessionFeed {
  readonly id: SessionId
  readonly scopeKey: ScopeKey
  readonly feed: EventFeed
  /** The last event that is known to be in the log. */
  last: number
}

/** The place of a reader that has seen nothing, before the first event of any stream. */
const BEFORE_ALL = '0'
/** Events that a stream of all sessions may be behind: more are read faster from the sessions themselves. */
const MOST_BEHIND = 100_000

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  return new Hub(deps)
}

class Hub implements LiveHub {
  readonly #deps: LiveHubDeps
  readonly #streams: OpenStreams
  readonly #all: EventFeed
  readonly #feeds = new Map<SessionId, SessionFeed>()
  readonly #texts: LiveTexts
  /** Those whose ids lie in a namespace that does not hold them; since this version none is added. */
  #joined: ReadonlySet<string> | undefined

  constructor(deps: LiveHubDeps) {
    const { read, clock } = deps
    this.#deps = deps
    this.#streams = new OpenStreams(clock)
    this.#all = new EventFeed({
      read: async (after, limit) => (await read.events.stored(after, limit)).map(itemOf),
      failed: this.#failed,
    })
    this.#texts = new LiveTexts(clock, (session) =>
      [this.#all, this.#feeds.get(session)?.feed].flatMap((feed) =>
        [...(feed?.members ?? [])].filter(({ texts, sees }) => texts && sees(session)),
      ),
    )
  }

  of(caller: Caller): LiveEvents {
    return {
      follow: (name, request) => this.#follow(caller, name, request),
      followAll: (request) => this.#followAll(caller, request),
    }
  }

  readonly watch: StoreWatch = {
    appended: (session, seq, events) => {
      // Also where the last reader has left meanwhile, else the text would be kept for good.
      if (this.#texts.grow && events.some(({ type }) => type === 'turn_completed' || type === 'turn_cancelled'))
        this.#texts.over(session)
      if (this.#streams.count === 0) return
      this.#all.grew()
      const followed = this.#feeds.get(session)
      if (followed === undefined) return
      followed.last = Math.max(followed.last, seq + events.length - 1)
      followed.feed.grew()
    },
    deleted: (session) => {
      this.#end(session, () => ({ reason: 'deleted', session }))
      for (const { sees, reader } of this.#all.members) if (sees(session)) reader.deleted(session)
    },
    pointed: (scopeKey, successor) => {
      for (const { id, scopeKey: scope } of [...this.#feeds.values()])
        if (scope === scopeKey && id !== successor) this.#end(id, ({ sees }) => succeeded(id, successor, sees))
    },
    taken: (last) => this.#all.taken(last),
  }

  readonly grew = (text: GrownText): void => {
    if (this.#streams.texts > 0) this.#texts.grew(text)
  }

  get readers(): number {
    return this.#streams.count
  }

  stop(): void {
    this.#streams.stop()
    this.#texts.clear()
  }

  async #follow(caller: Caller, name: string, request: FollowRequest): Promise<Followed> {
    const current = await this.#deps.sessions.locate(caller, name)
    const { after } = request
    const session = await this.#sessionOf(caller, current, after)
    if (after !== undefined) await this.#checkPlace(session, after)
    const named = name !== session.id
    const place = after === undefined ? await this.#placeIn(session) : undefined
    const reads = await this.#readsOf(caller)
    const sees = (id: string): boolean => id === session.id || reads(id)
    const until = session.id === current.id ? undefined : succeeded(session.id, current.id, sees)
    const stream = this.#streams.open(request, {
      ...{ place: after?.seq ?? session.lastSeq, texts: request.texts, sees, until },
      feed: () => {
        const followed = this.#feedOf(session)
        void this.#endIfMoved(followed, named && until === undefined).catch(this.#failed)
        return followed.feed
      },
      left: () => {
        if (this.#feeds.get(session.id)?.feed.members.size === 0) this.#feeds.delete(session.id)
      },
    })
    return { ...stream, session: session.id, after: after?.seq ?? session.lastSeq, ...(place ? { place } : {}) }
  }

  /** Returns the session that a place is in: the one that is asked for, or one that had its name before. */
  async #sessionOf(caller: Caller, current: Session, after: StreamPlace | undefined): Promise<Session> {
    if (after?.session === undefined || after.session === current.id) return current
    const former = await this.#deps.sessions.locate(caller, after.session).catch((error: unknown) => {
      if (errorCode(error) === 'not_found') throw tooOld(after)
      throw error
    })
    if (former.id !== after.session || former.scopeKey !== current.scopeKey) throw tooOld(after)
    return former
  }

  async #checkPlace({ id, lastSeq }: Session, after: StreamPlace): Promise<void> {
    if (after.seq > lastSeq) throw tooOld(after)
    if (after.at === undefined || after.seq === 0) return
    const found = await this.#deps.read.events.placed(id, after.seq)
    if (found?.event.at !== after.at) throw tooOld(after)
  }

  async #placeIn({ id, lastSeq }: Session): Promise<string> {
    const found = await this.#deps.read.events.placed(id, lastSeq)
    return placeOf(id, found?.event ?? { seq: lastSeq, at: 0 })
  }

  #feedOf({ id, scopeKey, lastSeq }: Session): SessionFeed {
    const known = this.#feeds.get(id)
    if (known !== undefined) return known
    const { events } = this.#deps.read
    const feed = new EventFeed({
      read: async (after, limit) => {
        for (let from = after; ; from += limit) {
          const page = await events.since(id, from, limit)
          // Rows that cannot be read are left out, a whole page of them too.
          if (page.length > 0 || from + limit >= made.last || this.#feeds.get(id) !== made)
            return page.map((event) => ({ place: event.seq, live: { session: id, event: eventReport(event) } }))
        }
      },
      failed: this.#failed,
    })
    const made: SessionFeed = { id, scopeKey, feed, last: lastSeq }
    this.#feeds.set(id, made)
    return made
  }

  /** Whoever follows from now on gets a feed of their own. */
  #end(session: SessionId, ending: (member: FeedMember) => StreamEnd): void {
    const followed = this.#feeds.get(session)
    if (followed === undefined) return
    this.#feeds.delete(session)
    followed.feed.endWith(ending)
  }

  /** Ends a stream whose session has gone, or lost its name, since it was looked up. */
  async #endIfMoved({ id, scopeKey }: SessionFeed, named: boolean): Promise<void> {
    const { sessions } = this.#deps.read
    if ((await sessions.get(id)) === undefined) return this.#end(id, () => ({ reason: 'deleted', session: id }))
    const current = named ? await sessions.current(scopeKey) : undefined
    if (current && current.id !== id) this.#end(id, ({ sees }) => succeeded(id, current.id, sees))
  }

  async #followAll(caller: Caller, request: FollowRequest): Promise<Followed> {
    if (!isOwner(caller) && caller.kind !== 'token')
      throw new ParleyError('forbidden', 'Only owners and tokens may follow all sessions.')
    const sees = await this.#readsOf(caller)
    const newest = await this.#deps.read.events.newest()
    const from = request.after === undefined ? newest : await this.#placeInAll(request.after, sees)
    if (newest && from && newest.place - from.place > MOST_BEHIND)
      throw new ParleyError('too_old', `That place lies more than ${MOST_BEHIND} events back; read the sessions anew.`)
    const stream = this.#streams.open(request, {
      ...{ place: from?.place ?? 0, texts: request.texts, sees },
      feed: () => this.#all,
    })
    if (request.after !== undefined) return stream
    if (newest === undefined) return { ...stream, place: BEFORE_ALL }
    return { ...stream, ...(sees(newest.session) ? { place: placeOf(newest.session, newest.event) } : {}) }
  }

  async #placeInAll(after: StreamPlace, sees: (id: string) => boolean): Promise<Pick<PlacedEvent, 'place'>> {
    if (after.session === undefined && after.seq === 0) {
      const [oldest] = await this.#deps.read.events.stored(0, 1)
      return { place: oldest === undefined ? 0 : oldest.place - 1 }
    }
    if (after.session === undefined)
      throw new ParleyError('invalid', 'A place in the stream of all sessions names a session: 57-mf3k2j1a@cli:notes')
    const found = await this.#deps.read.events.placed(after.session as SessionId, after.seq)
    if (found === undefined || found.event.at !== after.at || !sees(found.session)) throw tooOld(after)
    return found
  }

  /** Returns whether a session is the caller's to read, by its name: that a person took part is not in a name. */
  async #readsOf(caller: Caller): Promise<(id: string) => boolean> {
    if (isOwner(caller)) return () => true
    if (caller.kind !== 'token') return () => false
    this.#joined ??= new Set<string>(await this.#deps.read.lists.joined())
    const joined = this.#joined
    return (id) => holdsSession(caller.namespace, id) && !joined.has(id)
  }

  readonly #failed = (err: unknown): void => {
    this.#deps.logger.warn('A live stream ended early', { err })
  }
}

function itemOf({ place, session, event }: PlacedEvent): FeedItem {
  return { place, live: { session, event: eventReport(event) } }
}

function succeeded(session: SessionId, successor: SessionId, sees: (id: string) => boolean): StreamEnd {
  return { reason: 'succeeded', session, ...(sees(successor) ? { successor } : {}) }
}

function tooOld({ seq }: StreamPlace): ParleyError {
  return new ParleyError('too_old', `The stream cannot be resumed behind ${seq}: read the history, then follow anew.`)
}
