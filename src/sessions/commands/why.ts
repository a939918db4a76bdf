import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { MessageLink } from '../../core/message-link.ts'
import { AGED_OUT } from '../../core/operator.ts'
import { identifiesNobody, senderKey } from '../../core/platform-id.ts'
import type { InboxRow, Store } from '../../store/store.ts'
import { deniedCalls, describeRow } from './describe-row.ts'
import { findMessages } from './find-messages.ts'

export interface WhyDeps {
  readonly store: Pick<Store, 'read'>
  readonly channels: Channels
  /** Returns the reasons why a message may not have reached the daemon. */
  unseen(asked: string | MessageLink): Promise<readonly string[]>
  /** Reads a link to a message in any platform's form. */
  readLink(text: string): MessageLink | null
}

/**
 * `/why` shows the stored decision trace of the message that was replied to, or named by a link or an id. A reply to an
 * answer asks about the message it answered. Owners may ask about anything, everybody else about their own messages.
 */
export function whyCommand(deps: WhyDeps): ChatCommand {
  return {
    name: 'why',
    description: 'Why I answered, or did not (reply to a message)',
    args: 'a link to the message, unless you reply to it',
    who: 'anyone',
    private: true,
    run: (call) => why(call, deps),
  }
}

async function why(call: CommandCall, { store, channels, unseen, readLink }: WhyDeps): Promise<string | null> {
  const { args, decision } = call
  const asked = args === '' ? quotedBy(call) : (readLink(args) ?? args)
  if (!asked) return 'Reply with `/why` to the message you mean, or give me a link to it.'
  const owner = decision.identity.role === 'owner'
  const rows = await findMessages(store.read, asked)
  const row = rows.find((found) => owner || wrote(channels, found, call))
  if (row) return describeRow(row, { settings: owner, denied: await deniedCalls(row, store.read) }).join('\n')
  // A guest may not learn whether somebody else's message was received.
  if (!owner) return null
  const reasons = await unseen(asked)
  if (reasons[0]?.startsWith(AGED_OUT)) return reasons[0]
  return ['I have no record of that message: it never reached me.', ...reasons.map((reason) => `- ${reason}`)].join(
    '\n',
  )
}

/** Returns the message replied to, in this chat: another chat may have a message of the same number. */
function quotedBy({ dispatch: { event } }: CommandCall): MessageLink | undefined {
  const messageId = event.kind === 'command' ? event.quoted?.messageId : undefined
  return messageId === undefined ? undefined : { channel: event.address.channel, chat: event.address.chat, messageId }
}

/** An id that several people share proves nothing; one that holds in a single workspace counts with it (F-H04). */
function wrote(
  channels: Channels,
  { dispatch, decision }: InboxRow,
  { dispatch: asking, decision: asker }: CommandCall,
): boolean {
  const { sender, address } = dispatch.event
  const { sender: who, address: place } = asking.event
  if (identifiesNobody(channels, place.channel, who)) return false
  const same = senderKey(address.channel, sender) === senderKey(place.channel, who)
  return same && samePerson(decision.identity, asker.identity)
}

/** An id that changed hands does not show what its former owner wrote. */
function samePerson(one: Identity, other: Identity): boolean {
  return one.person === other.person
}
