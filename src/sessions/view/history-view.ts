import { type Content, textContent } from '../../core/content.ts'
import type { Exchange, HistoryBoundary } from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'
import { escapeLabels } from '../../core/label.ts'
import type { ModelMessage, ModelToolCall } from '../../core/model.ts'
import type { ReceivedMessage } from './received.ts'

/** The source of a user's words as the model is shown them. */
export interface SaidSource {
  /** The number of the event that ended the turn. */
  readonly seq?: number
  readonly turn?: TurnId
  /** The lines before and after the messages. */
  readonly before?: readonly string[]
  readonly received?: readonly ReceivedMessage[]
  readonly note?: string
}

/**
 * A user's words as the model is shown them, which is all that others see of it. The view knows its source, so that it
 * can be made anew without a deleted part.
 */
class SaidByUser {
  readonly role = 'user'
  readonly content: Content
  readonly #source: SaidSource

  constructor(content: Content, source: SaidSource) {
    this.content = content
    this.#source = source
  }

  static sourceOf(message: ModelMessage): SaidSource | undefined {
    return #source in message ? message.#source : undefined
  }
}

export const { sourceOf } = SaidByUser

/** The completed turns of a view, two messages each. */
export interface History {
  /** The messages the model is shown, oldest first; they go into requests unchanged. */
  readonly history: readonly ModelMessage[]
  /** The turns before those, which a truncation hides. */
  readonly hidden: readonly ModelMessage[]
}

export function saidByUser(content: Content, source: SaidSource): ModelMessage {
  return new SaidByUser(content, source)
}

export function exchange(user: Content, assistant: string, source: SaidSource = NO_SOURCE): ModelMessage[] {
  return [saidByUser(user, source), { role: 'assistant', text: assistant, calls: NO_CALLS }]
}

const NO_SOURCE: SaidSource = {}
const NO_CALLS: readonly ModelToolCall[] = []

/** The number of completed turns kept. */
export interface HistoryBounds {
  /** The turns that are left when older ones are dropped. */
  readonly turns: number
  /** The turns that are dropped together: each time the prompt becomes a new one, which no provider has kept. */
  readonly dropTurns: number
}

/** Adds turns, and drops the oldest where there are too many, hidden ones first. */
export function addHistory({ history, hidden }: History, added: readonly ModelMessage[], keep: HistoryBounds): History {
  if (hidden.length === 0) {
    const all = history.concat(added)
    const said = counted.get(history)
    if (said !== undefined) counted.set(all, said + count(added))
    return { history: newest(all, keep), hidden }
  }
  return divide(newest([...hidden, ...history, ...added], keep), history.length + added.length)
}

function newest(all: readonly ModelMessage[], { turns, dropTurns }: HistoryBounds): readonly ModelMessage[] {
  return all.length > 2 * turns && all.length >= 2 * (turns + dropTurns) ? all.slice(-2 * turns) : all
}

/** Changes which earlier turns the model is shown; the log stays as it is (K33, K35, K36). */
export function setBoundary({ history, hidden }: History, boundary: HistoryBoundary, seq: number): History {
  switch (boundary.kind) {
    case 'truncated':
      return divide([...hidden, ...history], 2 * boundary.turns)
    case 'compacted':
      return { history, hidden: [] }
    case 'replaced':
      return { history: boundary.exchanges.flatMap((one) => written(one, seq)), hidden: [] }
  }
}

/** Returns the messages of a turn that was written to replace others: it has no labels. */
function written({ user, assistant }: Exchange, seq: number): ModelMessage[] {
  return exchange(textContent(escapeLabels(user)), assistant, { seq })
}

function divide(all: readonly ModelMessage[], shown: number): History {
  const cut = Math.max(0, all.length - shown)
  return { history: all.slice(cut), hidden: all.slice(0, cut) }
}

/** Returns the turns that ended after the event with the number `seq`, and those before. */
export function partAt(
  messages: readonly ModelMessage[],
  seq: number,
): { readonly before: readonly ModelMessage[]; readonly after: readonly ModelMessage[] } {
  const first = messages.findIndex((message) => (sourceOf(message)?.seq ?? 0) > seq)
  return first === -1
    ? { before: messages, after: [] }
    : { before: messages.slice(0, first), after: messages.slice(first) }
}

/** The numbers of messages in histories, so that a turn counts only what it adds: every turn records the number. */
const counted = new WeakMap<readonly ModelMessage[], number>()

/** Returns how many messages people and the assistant have said in these turns. */
export function countSaid(history: readonly ModelMessage[]): number {
  const known = counted.get(history) ?? count(history)
  counted.set(history, known)
  return known
}

function count(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + (sourceOf(message)?.received?.length ?? 1), 0)
}
