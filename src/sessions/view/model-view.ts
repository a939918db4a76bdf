import type { ChatType } from '../../core/address.ts'
import { textContent } from '../../core/content.ts'
import type {
  EventDraft,
  HistoryBoundary,
  MessageName,
  PostedData,
  SessionEvent,
  TakenMessages,
} from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'
import { addUsage, type ModelMessage, NO_USAGE } from '../../core/model.ts'
import type { OpenStep, TurnRequest } from '../../core/turn.ts'
import { undeliveredNote } from '../turns/record-undelivered.ts'
import { addHistory, exchange, type History, saidByUser, setBoundary, sourceOf } from './history-view.ts'
import {
  applyEdit,
  boundContext,
  type ContextLimits,
  dropDeleted,
  type ReceivedMessage,
  redact,
  takeMessages,
} from './received.ts'
import { promptOf, shown } from './said-content.ts'

/** The bounds of a request. Trimming is silent and independent of any cap (C14). */
export interface ViewLimits extends ContextLimits {
  /** The most completed turns kept. */
  readonly turns: number
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
  /** The notes at the beginning of the next turn, about messages that did not arrive. */
  readonly notes: readonly string[]
}

/** The part of a view that an event changes. */
type Change = Partial<ModelView>

interface RunningTurn {
  readonly id: TurnId
  readonly received: readonly ReceivedMessage[]
  /** The notes before the messages. */
  readonly notes: readonly string[]
  /** Texts that other sessions delivered here meanwhile; they belong behind this turn. */
  readonly posted: readonly PostedData[]
  readonly steps: readonly ModelMessage[]
  readonly open: OpenStep | undefined
  /** The model calls and tokens of the steps so far. */
  readonly spent: TurnRequest['spent']
  readonly answer: string | undefined
}

/** More notes than this add nothing. */
const MOST_NOTES = 5

const NONE: readonly never[] = []
const UNCHANGED: Change = {}

export const EMPTY_VIEW: ModelView = {
  lastSeq: 0,
  history: NONE,
  hidden: NONE,
  pending: NONE,
  running: undefined,
  notes: NONE,
}

/** Adds later events of the same session, in order. */
export function extendView(
  view: ModelView,
  events: readonly SessionEvent[],
  chat: ChatType,
  limits: ViewLimits,
): ModelView {
  return growView(view, { events, lastSeq: events.at(-1)?.seq ?? view.lastSeq }, chat, limits)
}

/** Adds the events that were just appended; `lastSeq` is the number of the last one. */
export function growView(
  view: ModelView,
  { events, lastSeq }: { readonly events: readonly Logged[]; readonly lastSeq: number },
  chat: ChatType,
  limits: ViewLimits,
): ModelView {
  const next = { ...view, lastSeq }
  for (const event of events) Object.assign(next, fold(next, event, chat, limits))
  return next
}

/** An event, whatever its number and time. */
type Logged = EventDraft & Pick<SessionEvent, 'turnId'>

/** Returns the messages of a request for the running turn, and the step a crash left open. */
export function requestMessages(
  view: ModelView,
  chat: ChatType,
): { messages: readonly ModelMessage[]; open: OpenStep | undefined } {
  const { history, running } = view
  if (!running) return { messages: history, open: undefined }
  const messages = history.concat({ role: 'user', content: promptOf(running, chat) }, running.steps)
  return { messages, open: running.open }
}

function fold(view: ModelView, event: Logged, chat: ChatType, limits: ViewLimits): Change {
  switch (event.type) {
    case 'user_message':
      if (event.data.refused) return UNCHANGED
      return { pending: boundContext([...view.pending, event.data], limits) }
    case 'message_edited':
      if (event.data.refused) return UNCHANGED
      return { pending: boundContext(applyEdit(view.pending, event.data), limits) }
    case 'message_deleted':
      return forget(view, event.data, chat)
    case 'messages_dropped':
      return { pending: view.pending.filter((message) => !message.triggers) }
    case 'turn_started':
      return event.turnId ? start(view, event.turnId, event.data) : UNCHANGED
    case 'turn_steered':
      return steer(view, chat, event.data)
    case 'assistant_step':
    case 'tool_call':
    case 'tool_result':
    case 'assistant_message':
      return view.running ? { running: advance(view.running, event) } : UNCHANGED
    case 'turn_completed':
    case 'turn_cancelled':
      return end(view, event.type === 'turn_completed' && event.data.outcome !== 'failed', {
        chat,
        keep: limits.turns,
      })
    case 'assistant_posted':
      return post(view, event.data, { chat, keep: limits.turns })
    case 'delivery_failed':
      return { notes: [...view.notes, undeliveredNote(event.data)].slice(-MOST_NOTES) }
    case 'history_boundary':
      return bound(view, event.data)
    case 'history_taken_over':
      return endTakenOver(view)
    case 'session_started':
    case 'turn_resumed':
      return UNCHANGED
  }
}

function start({ pending, notes }: ModelView, id: TurnId, which: TakenMessages): Change {
  const { taken, left } = takeMessages(pending, which)
  return { pending: left, notes: NONE, running: { ...BEGINNING, id, received: taken, notes } }
}

const BEGINNING = {
  posted: NONE,
  steps: NONE,
  open: undefined,
  spent: { steps: 0, usage: NO_USAGE },
  answer: undefined,
} satisfies Partial<RunningTurn>

/** Removes a deleted message from every later prompt; the log keeps it (C23). */
function forget(view: ModelView, deleted: MessageName, chat: ChatType): Change {
  const { pending, running } = view
  const without = (said: readonly ModelMessage[]) => said.map((one) => withoutDeleted(one, deleted, chat))
  return {
    history: without(view.history),
    hidden: without(view.hidden),
    pending: dropDeleted(pending, deleted),
    running: running && { ...running, received: redact(running.received, deleted) },
  }
}

function withoutDeleted(said: ModelMessage, deleted: MessageName, chat: ChatType): ModelMessage {
  const source = sourceOf(said)
  if (!source?.received) return said
  const received = redact(source.received, deleted)
  if (received === source.received) return said
  const left = { ...source, received }
  return saidByUser(shown(left, chat), left)
}

/** Adds a text that another session delivered here as the agent's own words, after what was said before it. */
function post(
  view: ModelView,
  data: PostedData,
  { chat, keep }: { readonly chat: ChatType; readonly keep: number },
): Change {
  const { running, pending } = view
  if (running) return { running: { ...running, posted: [...running.posted, data] } }
  const received = pending.filter((message) => !message.triggers)
  const note = postedNote(data)
  const history = addHistory(view, exchange(shown({ received, note }, chat), data.text, { received, note }), keep)
  return { ...history, pending: pending.filter((message) => message.triggers) }
}

function postedNote({ from }: PostedData): string {
  return `[you posted the following here${from === undefined ? '' : `; it comes from ${from}`}]`
}

function steer(view: ModelView, chat: ChatType, which: TakenMessages): Change {
  if (!view.running) return UNCHANGED
  const { taken, left } = takeMessages(view.pending, which)
  const said: ModelMessage = { role: 'user', content: shown({ received: taken }, chat) }
  return { pending: left, running: { ...view.running, steps: [...view.running.steps, said] } }
}

type StepEvent = Extract<EventDraft, { type: 'assistant_step' | 'tool_call' | 'tool_result' | 'assistant_message' }>

function advance(running: RunningTurn, event: StepEvent): RunningTurn {
  switch (event.type) {
    case 'assistant_step': {
      const calls = event.data.calls.map((call) => ({ id: call.callId, name: call.tool, args: call.args }))
      const step: ModelMessage = { role: 'assistant', text: event.data.text, calls }
      const spent = { steps: running.spent.steps + 1, usage: addUsage(running.spent.usage, event.data.usage) }
      return { ...running, steps: [...running.steps, step], spent, open: { calls, results: [], intended: [] } }
    }
    case 'tool_call':
      return running.open
        ? { ...running, open: { ...running.open, intended: [...running.open.intended, event.data.callId] } }
        : running
    case 'tool_result':
      return running.open
        ? settle(running, { ...running.open, results: [...running.open.results, event.data] })
        : running
    case 'assistant_message':
      return { ...running, answer: event.data.text }
  }
}

/** Once every call of the open step has its result, the step becomes ordinary history of the turn. */
function settle(running: RunningTurn, open: OpenStep): RunningTurn {
  if (open.results.length < open.calls.length) return { ...running, open }
  const results = open.results.map(({ callId, content, isError }) => ({ id: callId, content, isError }))
  return { ...running, steps: [...running.steps, { role: 'tool', results }], open: undefined }
}

function end(
  view: ModelView,
  completed: boolean,
  { chat, keep }: { readonly chat: ChatType; readonly keep: number },
): Change {
  const { running } = view
  if (!running) return UNCHANGED
  const added = completed && running.answer !== undefined ? answered(running, running.answer, chat) : []
  for (const data of running.posted) added.push(...exchange(textContent(postedNote(data)), data.text))
  if (added.length === 0) return { running: undefined }
  const { history, hidden } = addHistory(view, added, keep)
  return { running: undefined, history, hidden }
}

function answered({ received, notes }: RunningTurn, answer: string, chat: ChatType): ModelMessage[] {
  const source = { received, before: notes }
  return exchange(shown(source, chat), answer, source)
}

/** Unanswered messages belong to the history that a replacement puts aside. */
function bound(view: ModelView, boundary: HistoryBoundary): Change {
  const pending = boundary.kind === 'replaced' ? view.pending.filter(({ triggers }) => triggers) : view.pending
  return { ...setBoundary(view, boundary), pending }
}

/** Ends a turn that was under way in the older session; its unanswered messages are context here. */
function endTakenOver({ pending }: ModelView): Change {
  return { running: undefined, pending: pending.map((message) => ({ ...message, triggers: false })) }
}
