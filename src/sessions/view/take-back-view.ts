import type { ChatType } from '../../core/address.ts'
import type { TakenBackData } from '../../core/taken-back.ts'
import { withoutExchange } from './turn-end.ts'
import { isMadeOf, withoutWorking } from './working-memory.ts'

type EndingView = Parameters<typeof withoutExchange>[0]
type RememberingView = Parameters<typeof withoutWorking>[0]

/**
 * Returns the changes of a view by which an exchange is taken back. The working memory ends where it may have words of
 * the exchange.
 */
export function takeBack(
  view: EndingView & RememberingView,
  taken: TakenBackData,
  { chat, keep }: { readonly chat: ChatType; readonly keep: Parameters<typeof withoutExchange>[2] },
) {
  const left = withoutExchange(view, taken, keep)
  const isMade = taken.messages.some((name) => isMadeOf(view.working, name))
  return isMade ? { ...left, ...withoutWorking({ ...view, ...left }, chat) } : left
}
