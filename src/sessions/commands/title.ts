import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { typedTitle } from '../../core/titles.ts'
import type { Store } from '../../store/store.ts'
import { refuseWhole } from './joined-session.ts'
import { titleOf, UNTITLED } from './sessions.ts'

export interface TitleCommandDeps {
  readonly channels: Channels
  readonly store: Store
}

/** `/title` shows what the conversation is called in lists, and calls it otherwise. */
export function titleCommand(deps: TitleCommandDeps): ChatCommand {
  return {
    name: 'title',
    description: 'What this conversation is called in /sessions',
    args: 'a new title',
    who: 'anyone',
    fromConversation: true,
    run: (call) => title(call, deps),
  }
}

const LONGEST_TITLE = 80

function calledNow(session: Pick<Session, 'description'>): string {
  const shown = titleOf(session)
  return shown === UNTITLED ? 'This conversation has no title.' : `This conversation is called: ${shown}`
}

async function title(call: CommandCall, { channels, store }: TitleCommandDeps): Promise<string> {
  refuseWhole(channels, call)
  const { scopeKey } = call.decision.route
  const typed = typedTitle(call.args)
  if (typed.length > LONGEST_TITLE)
    throw new ParleyError('invalid', `A title has at most ${LONGEST_TITLE} characters; this one has ${typed.length}.`)
  return store.write(async (tx) => {
    const session = await tx.sessions.current(scopeKey)
    if (session === undefined) return 'There is nothing to give a title to yet: nobody has said anything here.'
    if (typed === '') return `${calledNow(session)}\n\`/title <text>\` changes that.`
    await tx.sessions.describe(session.id, typed, 'user')
    // Lists show a title to the model, here and in other sessions, as words that were said in this one.
    const { address, sender } = call.dispatch.event
    await tx.authors.add(session.id, senderAuthor(channels, address.channel, sender))
    return calledNow({ description: typed })
  })
}
