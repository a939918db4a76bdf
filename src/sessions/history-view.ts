import type { HistoryBoundary } from '../core/event.ts'
import type { ModelMessage } from '../core/model.ts'

/** The completed turns of a view, two messages each. */
export interface History {
  /** What the model is shown, oldest first. */
  readonly history: readonly ModelMessage[]
  /** Turns before those, which a truncation hides. */
  readonly hidden: readonly ModelMessage[]
}

export function exchange(user: string, assistant: string): ModelMessage[] {
  return [
    { role: 'user', text: user },
    { role: 'assistant', text: assistant, calls: [] },
  ]
}

/** Adds turns; the oldest beyond `keep` are forgotten, hidden ones first. */
export function addHistory({ history, hidden }: History, added: readonly ModelMessage[], keep: number): History {
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

function divide(all: readonly ModelMessage[], shown: number): History {
  const cut = Math.max(0, all.length - shown)
  return { history: all.slice(cut), hidden: all.slice(0, cut) }
}
