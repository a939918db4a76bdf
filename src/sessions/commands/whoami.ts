import { formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { Access } from '../people/access.ts'

export interface WhoamiDeps {
  readonly channels: Channels
  readonly access: Pick<Access, 'ownerKnown' | 'unownedLine'>
}

/** `/whoami` lists the ids that a rule needs, in the form that the configuration takes. */
export function whoamiCommand(deps: WhoamiDeps): ChatCommand {
  return {
    name: 'whoami',
    description: 'Who you are to me, and the ids that rules need',
    who: 'anyone',
    // Before there is an owner it answers in direct chats: its id makes somebody the owner by the configuration.
    open: true,
    asks: true,
    run: async (call) => whoami(call, deps),
  }
}

function whoami({ dispatch, decision }: CommandCall, { channels, access }: WhoamiDeps): string {
  const { sender, address } = dispatch.event
  const { channel, account, chat, topic } = address
  const { person, role } = decision.identity
  const id = platformIdOf(channels, channel, sender)
  const isNobody = identifiesNobody(channels, channel, sender)
  const shared = isNobody ? ', an id of nobody in particular' : ''
  const known = person === undefined ? '' : `, known to me as ${person}`
  const topicPart = topic === undefined ? '' : `, topic: "${topic}"`
  const claimed = access.ownerKnown || isNobody || address.chatType !== 'direct'
  return [
    `You are \`${id}\`${shared}${known}; your role is ${role}.`,
    `This place is \`${formatAddress(address)}\`; a rule for it begins with \`match: { channel: ${channel}, account: ${account}, chat: "${chat}"${topicPart} }\``,
    ...(claimed
      ? []
      : [
          `${access.unownedLine(channel)} Or write \`people: { me: { role: owner, ids: ["${id}"] } }\` into my configuration.`,
        ]),
  ].join('\n')
}
