import type { ChatType } from '../../core/address.ts'
import type { ModelMessage } from '../../core/model.ts'
import type { EarlierMessages } from '../../core/turn.ts'
import { countSaid } from './history-view.ts'
import type { ModelView } from './model-view.ts'
import type { ReceivedMessage } from './received.ts'
import { promptOf } from './said-content.ts'

/** The most messages of a side question, itself included (K44). */
const MOST = 50

/** The messages of a request beside the conversation. */
export interface SideMessages {
  readonly messages: readonly ModelMessage[]
  readonly earlier: EarlierMessages
}

/**
 * Returns what the model is shown for a question beside the conversation: its completed turns, what waits for one, and
 * the question. Nothing of it is in the view afterwards (K41). Pure.
 */
export function sideMessages(
  { history, hidden, summary, pending }: ModelView,
  chat: ChatType,
  { question, notes }: { readonly question: ReceivedMessage; readonly notes: readonly string[] },
): SideMessages {
  const pair = hidden.length === 0 ? (summary?.pair ?? []) : []
  // Two messages a turn, so that the oldest of them is a person's.
  const room = MOST - 2 - pair.length
  const kept = history.slice(-room)
  const before = [...pair, ...kept]
  const content = promptOf({ received: [...pending, question], notes }, chat)
  return {
    messages: [...before, { role: 'user', content }],
    earlier: { messages: before.length, summary: pair.length > 0, said: countSaid(kept) },
  }
}
