import { setImmediate } from 'node:timers/promises'
import type { ChatType } from '../../core/address.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { SessionEvent } from '../../core/event.ts'
import { type LeavingWords, NOTHING_LEAVES } from '../../core/forgetting.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import type { Session, SessionIdentity } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Appended } from '../turns/record-turn.ts'
import { type ReadLog, withoutLeaving } from './channel-words.ts'
import { EMPTY_VIEW, extendView, growView, type ModelView, type ViewLimits, withChannel } from './model-view.ts'
import type { ReceivedMessage } from './received.ts'
import { type SideMessages, sideMessages } from './side-messages.ts'
import { timeNote } from './turn-end.ts'
import { ViewCache, type ViewCachePorts } from './view-cache.ts'

const PAGE = 500

/** The events read at the first look at a long session: enough for the kept turns, whatever the log's length. */
const TAIL = 2_000

/** The events before a summary's turns that are read with them: what waited meanwhile is among them. */
const BEFORE_SUMMARY = 500

type SessionKind = Pick<Session, 'id' | 'chatType'>

/** Reads session logs as model views. The cache holds only what the log can give again. */
export interface Transcript<Viewed extends SessionKind = SessionIdentity> {
  /**
   * Returns the view up to the newest committed event of the session. With `turn`, a cached view in which that turn has
   * begun is enough, and mostly nothing is read.
   */
  view(session: Viewed, turn?: TurnId): Promise<ModelView>
  /**
   * Returns the view with the words that stand in other logs: a request has them, and nothing that is kept is made of
   * them.
   */
  shown(session: Viewed, turn?: TurnId): Promise<ModelView>
  /** Returns the messages of a question that is asked beside the conversation and is in no view (K41). */
  aside(session: Viewed, question: ReceivedMessage): Promise<SideMessages>
  /**
   * Adds events that were just committed, so that the next look need not read them. All but the very next ones are
   * ignored.
   */
  saw(session: Viewed, appended: Appended): void
  /** Forgets the cached view: of a deleted session, or once a turn has ended that is being forgotten. */
  drop(id: SessionId): void
}

type ViewedEvents = Pick<StoreReader['events'], 'latest' | 'since' | 'latestSummary'>

export interface TranscriptPorts<Viewed> extends Partial<ViewCachePorts> {
  /** Returns the kind of chat that a session is to its model; absent: its own. */
  chatTypeOf?(session: Viewed): ChatType
  /** Returns what is being forgotten of turns that have ended: it is in no view by then. Absent: nothing. */
  leaving?(id: SessionId): Promise<LeavingWords>
  /** Returns the reader of the logs that a session shows by reference. Absent: it shows none. */
  channelLogs?(shownIn: SessionId): ReadLog
  /** The time of side questions, and of the use of views. */
  readonly clock?: Clock
}

export function createTranscript<Viewed extends SessionKind>(
  events: ViewedEvents,
  limits: ViewLimits,
  {
    chatTypeOf = ({ chatType }) => chatType,
    leaving = async () => NOTHING_LEAVES,
    channelLogs = () => async () => [],
    clock = systemClock,
    runs = () => false,
  }: TranscriptPorts<Viewed> = {},
): Transcript<Viewed> {
  const views = new ViewCache({ clock, runs })
  let drops = 0

  const read = async (session: Viewed): Promise<ModelView> => {
    const { id } = session
    const chatType = chatTypeOf(session)
    const before = drops
    let view = views.get(id)
    const leaves = await leaving(id)
    let batch: readonly SessionEvent[]
    if (view === undefined) {
      view = EMPTY_VIEW
      batch = await firstBatch(events, id)
    } else {
      batch = await events.since(id, view.lastSeq, PAGE)
    }
    while (batch.length > 0) {
      view = extendView(view, withoutLeaving(batch, leaves), chatType, limits)
      if (batch.length < PAGE) break
      // The store answers at once: without a pause a long log would hold up everything else.
      await setImmediate()
      batch = await events.since(id, view.lastSeq, PAGE)
    }
    // Nothing is kept of a session that was deleted meanwhile: its id may be given again.
    if (drops === before) views.set(id, view)
    return view
  }

  const filled = (session: Viewed, view: ModelView): Promise<ModelView> =>
    withChannel(view, chatTypeOf(session), channelLogs(session.id))

  const view = async (session: Viewed, turn?: TurnId): Promise<ModelView> => {
    const known = views.get(session.id)
    return turn !== undefined && known?.running?.id === turn ? known : read(session)
  }

  return {
    view,
    shown: async (session, turn) => filled(session, await view(session, turn)),
    async aside(session, question) {
      const { timeOf } = limits
      const notes = timeOf === undefined ? [] : [timeNote(timeOf(clock.now()))]
      return sideMessages(await filled(session, await read(session)), chatTypeOf(session), { question, notes })
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
    drop(id) {
      drops++
      views.delete(id)
    },
  }
}

/**
 * Returns the events with which a view begins: the newest ones, or those from shortly before the turns that the newest
 * summary left as they were, however many they are.
 */
async function firstBatch(events: ViewedEvents, id: SessionId): Promise<readonly SessionEvent[]> {
  const summary = await events.latestSummary(id)
  if (summary === undefined) return events.latest(id, TAIL)
  return events.since(id, Math.max(0, summary.seq - summary.back - BEFORE_SUMMARY), PAGE)
}
