import type { HistoryBoundary } from '../../core/event.ts'
import type { ModelMessage } from '../../core/model.ts'
import type { Heard } from './heard.ts'

/** What a user's text was made of. */
export interface SaidSource {
  /** Lines before and after what was heard. */
  readonly before?: readonly string[]
  readonly heard?: readonly Heard[]
  readonly note?: string
}

/** A message of the history; it knows its source, so that it can be made anew without a deleted part. */
export type Said = ModelMessage & SaidSource

/** The completed turns of a view, two messages each. */
export interface History {
  /** What the model is shown, oldest first. */
  readonly history: readonly Said[]
  /** Turns before those, which a truncation hides. */
  readonly hidden: readonly Said[]
}

export function exchange(user: string, assistant: string, source: SaidSource = {}): Said[] {
  return [
    { role: 'user', text: user, ...source },
    { role: 'assistant', text: assistant, calls: [] },
  ]
}

/** Adds turns; the oldest beyond `keep` are forgotten, hidden ones first. */
export function addHistory({ history, hidden }: History, added: readonly Said[], keep: number): History {
  return divide([...hidden, ...history, ...added].slice(-2 * keep), history.length + added.length)
}

/** The log stays as it is; what the model is shown of the turns before changes (K33, K35, K36). */
export function setBoundary({ history, hidden }: History, boundary: HistoryBoundary): History {
  switch (boundary.kind) {
    case 'truncated':
      return divide([...hidden, ...history], 2 * boundary.turns)
    case 'compacted':
      return { history, hidden: [] }
    case 'replaced':
      return { history: boundary.exchanges.flatMap(({ user, assistant }) => exchange(user, assistant)), hidden: [] }
  }
}

function divide(all: readonly Said[], shown: number): History {
  const cut = Math.max(0, all.length - shown)
  return { history: all.slice(cut), hidden: all.slice(0, cut) }
}
