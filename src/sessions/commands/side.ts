import type { Charge } from '../../core/budget.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Store } from '../../store/store.ts'
import type { AskAside } from '../service/side-question.ts'
import { readerOf } from '../turns/parted-chat.ts'
import { userMessage } from '../turns/user-message.ts'
import { refuseJoined } from './joined-session.ts'

export interface SideCommandDeps {
  readonly channels: Channels
  readonly store: Pick<Store, 'read'>
  readonly askAside: AskAside
  /** Absent where no budget is configured. */
  readonly budgets: { ofCommand(this: void, call: CommandCall): Charge | undefined } | undefined
}

/**
 * `/side <question>` is answered from the conversation and leaves nothing in it (K41). It is a call of the model that
 * no turn bounds, so it is for people who were let in by name; where people of other chats share the session it is the
 * owner's, for the answer may say what those wrote.
 */
export function sideCommand(deps: SideCommandDeps): ChatCommand {
  return {
    name: 'side',
    description: 'Answer a question from this conversation and leave nothing in it',
    args: 'your question',
    who: 'anyone',
    fromConversation: true,
    run: (call) => side(call, deps),
  }
}

async function side(call: CommandCall, { channels, store, askAside, budgets }: SideCommandDeps): Promise<string> {
  refuseJoined(channels, call)
  const { decision, dispatch, args } = call
  if (decision.public) throw new ParleyError('forbidden', 'Only people whom my owner knows may do that.')
  if (args.trim() === '') throw new ParleyError('invalid', 'Say `/side <question>`.')
  const session = await store.read.sessions.current(decision.route.scopeKey)
  if (session === undefined) return 'There is nothing to ask about yet: nobody has said anything here.'
  const said = userMessage(dispatch, { ...decision, addressed: true }, { triggers: true })
  if (said.type !== 'user_message') throw new ParleyError('internal', 'a command is no edit')
  const { address, sender } = dispatch.event
  const reader = readerOf(channels, address.channel, sender, decision.identity)
  return askAside(session, { ...said.data, text: args }, { ...dispatch, reader, charge: budgets?.ofCommand(call) })
}
