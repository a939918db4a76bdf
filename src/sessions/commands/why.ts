import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Store } from '../../store/store.ts'
import { describeRow } from '../describe-row.ts'

/** `/why`: the stored decision trace of the message that was replied to, or named by its id. */
export function whyCommand(store: Pick<Store, 'read'>): ChatCommand {
  return {
    name: 'why',
    description: 'Why I answered, or did not (reply to a message)',
    who: 'owner',
    run: (call) => why(call, store),
  }
}

async function why({ dispatch, args }: CommandCall, { read }: Pick<Store, 'read'>): Promise<string> {
  const { event } = dispatch
  const asked = args || (event.kind === 'command' ? event.quoted?.messageId : undefined)
  if (!asked) return 'Reply with `/why` to the message you mean, or give me its id.'
  const { channel, account, chat } = event.address
  const rows = await read.inbox.find(asked)
  // An owner may ask about anything, but not by accident about another chat's message with the same number.
  const row = rows.find(
    ({
      dispatch: {
        event: { address },
      },
    }) => args !== '' || (address.channel === channel && address.account === account && address.chat === chat),
  )
  return row ? describeRow(row).join('\n') : 'I have no record of that message: it never reached me.'
}
