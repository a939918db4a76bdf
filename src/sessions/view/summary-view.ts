import { textContent } from '../../core/content.ts'
import type { SummaryData } from '../../core/event.ts'
import type { MessageName } from '../../core/message.ts'
import type { ModelMessage } from '../../core/model.ts'
import { exchange, type History, partAt, sourceOf } from './history-view.ts'
import { names } from './received.ts'

/** The summary that stands for older turns. */
export interface SummaryView {
  /** Its event; 0 for an older one that stands again. */
  readonly seq: number
  /** The pair that the model is shown (R21). */
  readonly pair: readonly ModelMessage[]
  /** The turns it stands for and the pair before it, as far as they are in memory. */
  readonly folds: readonly ModelMessage[]
  readonly older: readonly ModelMessage[]
}

/** The beginning of every later prompt (R22). People cannot write it: a backslash would stand before their bracket. */
export const SUMMARY_LABEL = '[summary of this conversation up to here, which the chat software asked for]'

const NONE: readonly never[] = []

/** Returns the view after a summary: turns that ended later than those it stands for stay as they are (R20). */
export function foldSummary(
  { history, hidden, summary }: History & { readonly summary: SummaryView | undefined },
  { text, back }: SummaryData,
  seq: number,
): History & { readonly summary: SummaryView } {
  const shown = partAt(history, seq - back)
  const older = summary?.pair ?? NONE
  return {
    history: shown.after,
    hidden: partAt(hidden, seq - back).after,
    summary: { seq, pair: exchange(textContent(SUMMARY_LABEL), text), folds: shown.before, older },
  }
}

/**
 * Returns the view after a message that is in none of the shown turns was deleted: the summary may have its words, so
 * the turns it stands for are shown again instead, as far as they are in memory.
 */
export function unfold(
  { history, summary }: Pick<History, 'history'> & { readonly summary: SummaryView },
  deleted: MessageName,
  without: (message: ModelMessage) => ModelMessage,
): { readonly history: readonly ModelMessage[]; readonly summary: SummaryView | undefined } {
  const among = summary.folds.some((message) => names(sourceOf(message)?.received ?? NONE, deleted))
  const older = among && summary.older.length > 0
  return {
    history: [...summary.folds.map(without), ...history],
    summary: older ? { seq: 0, pair: summary.older, folds: NONE, older: NONE } : undefined,
  }
}
