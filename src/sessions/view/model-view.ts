import type { ChatType } from '../../core/address.ts'
import { isNothing } from '../../core/emptied.ts'
import type {
  EventDraft,
  HistoryBoundary,
  SessionEvent,
  TakenMessages,
  ThreadReadData,
  UserMessageData,
} from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'
import type { FilesReadData, MessageName } from '../../core/message.ts'
import { type ModelMessage, NO_USAGE } from '../../core/model.ts'
import type { EarlierMessages, OpenStep } from '../../core/turn.ts'
import { retriedNote, undeliveredNote } from '../turns/record-undelivered.ts'
import { type ReadLog, withChannelWords } from './channel-words.ts'
import { isAmong, isUnasked, leavesNothing, withoutDeleted } from './deleted-view.ts'
import { countSaid, type History, type HistoryBounds, saidByUser, setBoundary, sourceOf } from './history-view.ts'
import {
  applyEdit,
  boundContext,
  type ContextLimits,
  dropDeleted,
  type ReceivedMessage,
  redact,
  type Speakers,
  takeMessages,
  withoutDropped,
  withReadFiles,
  withSpeaker,
} from './received.ts'
import { advance, BEGINNING, type RunningTurn } from './running-turn-view.ts'
import { promptOf, shown } from './said-content.ts'
import { foldSummary, type SummaryView, unfold } from './summary-view.ts'
import { takeBack } from './take-back-view.ts'
import { end, MOST_NOTES, post, putBack, timeNote } from './turn-end.ts'
import { isMadeOf, type WorkingMemory, withoutWorking, workingNotes, workingOf } from './working-memory.ts'

/** The bounds of a request. Trimming is silent and independent of any cap (C14). */
export interface ViewLimits extends ContextLimits, HistoryBounds {
  /** Returns the time at which a turn began as the model is shown it; absent: it is shown none. */
  readonly timeOf?: (at: number) => string
}

/**
 * A session's log folded into what the model is shown: completed turns as one user and one assistant text (C27), the
 * running turn with its steps. Failed and cancelled turns leave nothing (C15, C19). Pure: the same events give the same
 * view, however they were cut into batches.
 */
export interface ModelView extends History {
  readonly lastSeq: number
  /** The user messages that no turn has taken yet, oldest first. */
  readonly pending: readonly ReceivedMessage[]
  readonly running: RunningTurn | undefined
  /** The last turn, where it has failed: it leaves nothing, unless it is resumed. */
  readonly failed: RunningTurn | undefined
  /** Whoever spoke, where the names of the speakers are shown. */
  readonly speakers: Speakers
  /** The history of the session's thread was read, and is in the view; `channel`: some of it stands in other logs. */
  readonly threadRead: 'thread' | 'channel' | undefined
  /** Stands for older turns, before the history. */
  readonly summary: SummaryView | undefined
  /** The working memory of the newest checkpoint; shown with the next turn, unless the history has it already. */
  readonly working: WorkingMemory | undefined
  /** The notes at the beginning of the next turn, about messages that did not arrive. */
  readonly notes: readonly string[]
}

/** The part of a view that an event changes. */
type Change = Partial<ModelView>

const NONE: readonly never[] = []
const UNCHANGED: Change = {}

export const EMPTY_VIEW: ModelView = {
  lastSeq: 0,
  history: NONE,
  hidden: NONE,
  pending: NONE,
  running: undefined,
  failed: undefined,
  speakers: new Map(),
  threadRead: undefined,
  summary: undefined,
  working: undefined,
  notes: NONE,
}

/** Adds later events of the same session, in order. */
export function extendView(
  view: ModelView,
  events: readonly SessionEvent[],
  chat: ChatType,
  limits: ViewLimits,
): ModelView {
  const next = { ...view, lastSeq: events.at(-1)?.seq ?? view.lastSeq }
  for (const event of events) Object.assign(next, fold(next, event, { chat, limits, at: event.at, seq: event.seq }))
  return next
}

/** Adds the events that were just appended. */
export function growView(
  view: ModelView,
  { events, lastSeq, at }: Growth,
  chat: ChatType,
  limits: ViewLimits,
): ModelView {
  const next = { ...view, lastSeq }
  let seq = lastSeq - events.length
  for (const event of events) Object.assign(next, fold(next, event, { chat, limits, at, seq: ++seq }))
  return next
}

/** An event, whatever its number. */
type Logged = EventDraft & Pick<SessionEvent, 'turnId' | 'forgotten'>

/** Events that were appended in one commit, `lastSeq` the number of the last one. */
export interface Growth {
  readonly events: readonly Logged[]
  readonly lastSeq: number
  readonly at: number
}

/** The messages of a request. */
export interface RequestMessages {
  readonly messages: readonly ModelMessage[]
  /** The step a crash left open. */
  readonly open: OpenStep | undefined
  readonly earlier: EarlierMessages
}

/** Returns the messages of a request for the running turn. */
export function requestMessages({ history, hidden, summary, running }: ModelView, chat: ChatType): RequestMessages {
  // A truncation hides what is older than the turns it shows, a summary as well.
  const pair = hidden.length === 0 ? (summary?.pair ?? NONE) : NONE
  const before = pair.length === 0 ? history : [...pair, ...history]
  const earlier = { messages: before.length, summary: pair.length > 0, said: countSaid(history) }
  if (!running) return { messages: before, open: undefined, earlier }
  const messages = before.concat({ role: 'user', content: promptOf(running, chat) }, running.steps)
  return { messages, open: running.open, earlier }
}

/** The circumstances of an event. */
interface Folding {
  readonly chat: ChatType
  readonly limits: ViewLimits
  /** When the event was written, ms since the epoch. */
  readonly at: number
  readonly seq: number
}

function fold(view: ModelView, event: Logged, folding: Folding): Change {
  const { chat, limits, seq } = folding
  if (event.forgotten && leavesNothing(event.type)) return UNCHANGED
  switch (event.type) {
    case 'user_message':
      if (event.data.refused) return UNCHANGED
      return receive(view, event.data, folding)
    case 'message_edited':
      if (event.data.refused) return UNCHANGED
      return { pending: boundContext(applyEdit(view.pending, event.data), limits) }
    case 'message_deleted':
      return forget(view, event.data, chat)
    case 'messages_dropped':
      return { pending: withoutDropped(view.pending, event.data) }
    case 'turn_started':
      return event.turnId ? start(view, { id: event.turnId, takes: event.data }, folding) : UNCHANGED
    case 'thread_read':
      return readBefore(view, event.data, folding)
    case 'files_read':
      return readFiles(view, event.data, chat)
    case 'turn_steered':
      return steer(view, chat, event.data)
    case 'assistant_step':
    case 'tool_call':
    case 'tool_result':
    case 'assistant_message':
      return view.running ? { running: advance(view.running, event) } : UNCHANGED
    case 'turn_completed':
    case 'turn_cancelled':
      if (isUnasked(event)) return putBack(view, { chat, seq, keep: limits })
      return endTurn(view, event, { chat, seq, keep: limits })
    case 'turn_resumed':
      return resume(view, event)
    case 'assistant_posted':
      return post(view, event.data, { chat, seq, keep: limits })
    case 'delivery_failed':
      return { notes: [...view.notes, undeliveredNote(event.data)].slice(-MOST_NOTES) }
    case 'delivery_retried':
      return { notes: [...view.notes, retriedNote(event.data)].slice(-MOST_NOTES) }
    case 'history_boundary':
      return bound(view, event.data, { chat, seq })
    case 'context_compacted':
      return foldSummary(view, event.data, seq)
    case 'checkpoint_written':
      return { working: workingOf(event.data) }
    case 'history_taken_over':
      return endTakenOver(view)
    case 'exchange_taken_back':
      return takeBack(view, event.data, { chat, keep: limits })
    case 'session_started':
    case 'words_forgotten':
    case 'session_exported':
    case 'agent_updated':
    case 'approval_requested':
    case 'approval_decided':
      return UNCHANGED
  }
}

/** In a direct chat no name is shown. */
function receive({ pending, speakers }: ModelView, said: UserMessageData, { chat, limits }: Folding): Change {
  if (chat === 'direct') return { pending: boundContext([...pending, said], limits) }
  const known = withSpeaker(speakers, said)
  return { pending: boundContext([...pending, known.message], limits), speakers: known.speakers }
}

/**
 * The time stands with the words of its turn, in every later request too: what was shown stays as it was, so that a
 * provider that keeps the beginning of a prompt finds it again.
 */
function start(
  view: ModelView,
  { id, takes }: { readonly id: TurnId; readonly takes: TakenMessages },
  { limits: { timeOf }, at }: Folding,
): Change {
  const { taken, left } = takeMessages(view.pending, takes)
  const notes = [...workingNotes(view), ...view.notes]
  const before = timeOf === undefined ? notes : [timeNote(timeOf(at)), ...notes]
  return {
    ...{ pending: left, notes: NONE, failed: undefined },
    running: { ...BEGINNING, id, received: taken, notes: before },
  }
}

function endTurn(
  view: ModelView,
  event: Extract<Logged, { readonly type: 'turn_completed' | 'turn_cancelled' }>,
  adding: Parameters<typeof end>[2],
): Change {
  const failed = event.type === 'turn_completed' && event.data.outcome === 'failed'
  const ended = end(view, event.type === 'turn_completed' && !failed, adding)
  return failed ? { ...ended, failed: view.running } : ended
}

/** The tokens of its steps so far are in its first end, and texts that came meanwhile in the history. */
function resume({ failed }: ModelView, { turnId }: Pick<Logged, 'turnId'>): Change {
  if (failed === undefined || failed.id !== turnId) return UNCHANGED
  const { posted } = BEGINNING
  const spent = { steps: failed.spent.steps, usage: NO_USAGE }
  return { failed: undefined, running: { ...failed, posted, spent } }
}

/** Removes a deleted message from every later prompt; the log keeps it (C23). */
function forget(view: ModelView, deleted: MessageName, chat: ChatType): Change {
  const { pending, running, summary } = view
  const without = (said: readonly ModelMessage[]) => said.map((one) => withoutDeleted(one, deleted, chat))
  const unfolded =
    summary === undefined || isAmong(view, deleted)
      ? { history: view.history }
      : unfold({ ...view, summary }, deleted, (one) => withoutDeleted(one, deleted, chat))
  const forgotten = {
    ...unfolded,
    history: without(unfolded.history),
    hidden: without(view.hidden),
    pending: dropDeleted(pending, deleted),
    running: running && { ...running, received: redact(running.received, deleted), steps: without(running.steps) },
  }
  return isMadeOf(view.working, deleted)
    ? { ...forgotten, ...withoutWorking({ ...view, ...forgotten }, chat) }
    : forgotten
}

/** Adds what was said in a thread before the session knew of it, before the words of its first turn. */
function readBefore(view: ModelView, { messages }: ThreadReadData, { limits }: Folding): Change {
  const { running } = view
  if (!running) return UNCHANGED
  let { speakers } = view
  const left = messages.flatMap((message) => {
    if (isNothing(message)) return []
    const known = withSpeaker(speakers, message)
    speakers = known.speakers
    return [known.message]
  })
  const received = [...boundContext(left, limits), ...running.received]
  return {
    running: { ...running, received },
    threadRead: left.some(({ source }) => source) ? 'channel' : 'thread',
    speakers,
  }
}

/**
 * Returns the view with the words that stand in other logs, where the model was shown some. Each look has them as they
 * are: the view that is kept has references alone.
 */
export async function withChannel(view: ModelView, chat: ChatType, read: ReadLog): Promise<ModelView> {
  if (view.threadRead !== 'channel') return view
  const { running, history } = view
  const earlier = history.flatMap((message) => sourceOf(message)?.received ?? NONE)
  const words = await withChannelWords([...earlier, ...(running?.received ?? NONE)], read)
  // References have no names: only from here on is it known which speakers have the same.
  let { speakers } = EMPTY_VIEW
  const filled = (received: readonly ReceivedMessage[]): readonly ReceivedMessage[] => {
    return received.flatMap((message) => {
      const said = message.source === undefined ? message : words.get(message)
      if (said === undefined) return []
      const { apart: _apart, ...plain } = said
      const known = withSpeaker(speakers, plain)
      speakers = known.speakers
      return [known.message]
    })
  }
  const filledIn = (messages: readonly ModelMessage[]): readonly ModelMessage[] =>
    messages.map((message) => {
      const source = sourceOf(message)
      if (source?.received === undefined) return message
      return saidByUser(shown({ ...source, received: filled(source.received) }, chat), source)
    })
  const before = filledIn(history)
  return {
    ...view,
    history: before,
    running: running && { ...running, received: filled(running.received), steps: filledIn(running.steps) },
  }
}

/** Adds what became of the files of the turn's messages: the model is asked only afterwards. */
function readFiles({ running }: ModelView, { files }: FilesReadData, chat: ChatType): Change {
  if (!running) return UNCHANGED
  const byRef = new Map(files.map(({ ref, ...reading }) => [ref, reading]))
  const steps = running.steps.map((step) => {
    const source = sourceOf(step)
    const received = source?.received && withReadFiles(source.received, byRef)
    if (source === undefined || received === source.received) return step
    const read = { ...source, ...(received && { received }) }
    return saidByUser(shown(read, chat), read)
  })
  return { running: { ...running, received: withReadFiles(running.received, byRef), steps } }
}

/**
 * Messages that join a turn before the model was asked are read with those that began it, as the rest of an album is.
 */
function steer(view: ModelView, chat: ChatType, which: TakenMessages): Change {
  const { running } = view
  if (!running) return UNCHANGED
  const { taken, left } = takeMessages(view.pending, which)
  if (running.steps.length === 0)
    return { pending: left, running: { ...running, received: [...running.received, ...taken] } }
  const source = { received: taken }
  return { pending: left, running: { ...running, steps: [...running.steps, saidByUser(shown(source, chat), source)] } }
}

/** Unanswered messages belong to the history that a replacement puts aside. */
function bound(view: ModelView, boundary: HistoryBoundary, { chat, seq }: Pick<Folding, 'chat' | 'seq'>): Change {
  const pending = boundary.kind === 'replaced' ? view.pending.filter(({ triggers }) => triggers) : view.pending
  // A summary is as old as what is hidden.
  const gone = boundary.kind === 'replaced' || (boundary.kind === 'compacted' && view.hidden.length > 0)
  // The working memory may have the words of what is hidden.
  const rest = { ...view, ...withoutWorking(view, chat) }
  return {
    ...{ working: rest.working, running: rest.running, pending },
    ...setBoundary(rest, boundary, seq),
    ...(gone ? { summary: undefined } : {}),
  }
}

/** Ends a turn that was under way in the older session; its unanswered messages are context here. */
function endTakenOver({ pending }: ModelView): Change {
  return { running: undefined, pending: pending.map((message) => ({ ...message, triggers: false })) }
}
