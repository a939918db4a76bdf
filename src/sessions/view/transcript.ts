import { LRUCache } from 'lru-cache'
import type { ChatType } from '../../core/address.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { Session, SessionIdentity } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Appended } from '../turns/record-turn.ts'
import { EMPTY_VIEW, extendView, growView, type ModelView, type ViewLimits } from './model-view.ts'

const PAGE = 500
/** The most views kept in memory; one more drops the one used longest ago. Each can be rebuilt from the log. */
const CACHED_VIEWS = 500

/** The events read at the first look at a long session: enough for the kept turns, whatever the log's length. */
const TAIL = 2_000

type SessionKind = Pick<Session, 'id' | 'chatType'>

/** Reads session logs as model views. The cache holds only what the log can give again. */
export interface Transcript<Viewed extends SessionKind = SessionIdentity> {
  /**
   * Returns the view up to the newest committed event of the session. With `turn`, a cached view in which that turn has
   * begun is enough, and mostly nothing is read.
   */
  view(session: Viewed, turn?: TurnId): Promise<ModelView>
  /**
   * Adds events that were just committed, so that the next look need not read them. All but the very next ones are
   * ignored.
   */
  saw(session: Viewed, appended: Appended): void
  /** Forgets the cached view, e.g. of a deleted session. */
  drop(id: SessionId): void
}

/** `chatTypeOf` returns the kind of chat that a session is to its model; absent, its own. */
export function createTranscript<Viewed extends SessionKind>(
  events: Pick<StoreReader['events'], 'latest' | 'since'>,
  limits: ViewLimits,
  chatTypeOf: (session: Viewed) => ChatType = ({ chatType }) => chatType,
): Transcript<Viewed> {
  const views = new LRUCache<SessionId, ModelView>({ max: CACHED_VIEWS })

  const read = async (session: Viewed): Promise<ModelView> => {
    const { id } = session
    const chatType = chatTypeOf(session)
    let view = views.get(id)
    let batch: readonly SessionEvent[]
    if (view === undefined) {
      view = EMPTY_VIEW
      batch = await events.latest(id, TAIL)
    } else {
      batch = await events.since(id, view.lastSeq, PAGE)
    }
    while (batch.length > 0) {
      view = extendView(view, batch, chatType, limits)
      batch = batch.length < PAGE ? [] : await events.since(id, view.lastSeq, PAGE)
    }
    views.set(id, view)
    return view
  }

  return {
    async view(session, turn) {
      const view = views.get(session.id)
      return turn !== undefined && view?.running?.id === turn ? view : read(session)
    },
    saw(session, { seq, at, events: appended }) {
      const { id } = session
      const view = views.get(id)
      if (view?.lastSeq !== seq - 1) return
      views.set(
        id,
        growView(view, { events: appended, lastSeq: seq + appended.length - 1, at }, chatTypeOf(session), limits),
      )
    },
    drop: (id) => void views.delete(id),
  }
}
