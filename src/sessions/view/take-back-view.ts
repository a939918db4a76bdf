import type { ChatType } from '../../core/address.ts'
import type { MessageName } from '../../core/message.ts'
import type { TakenBackData } from '../../core/taken-back.ts'
import { withoutDeleted } from './deleted-view.ts'
import { redact } from './received.ts'
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
  const ended = withoutExchange(view, taken, keep)
  // A reply of somebody else quotes it; a message that is asked once more is there again.
  const left = taken.again ? ended : taken.messages.reduce((one, name) => withoutQuotes(one, name, chat), ended)
  const isMade = taken.messages.some((name) => isMadeOf(view.working, name))
  return isMade ? { ...left, ...withoutWorking({ ...view, ...left }, chat) } : left
}

function withoutQuotes(left: ReturnType<typeof withoutExchange>, name: MessageName, chat: ChatType): typeof left {
  const { pending = [], history = [], hidden = [] } = left
  return {
    ...left,
    pending: redact(pending, name),
    history: history.map((said) => withoutDeleted(said, name, chat)),
    hidden: hidden.map((said) => withoutDeleted(said, name, chat)),
  }
}
