import { formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'

/** `/whoami` lists the ids that a rule needs, in the form that the configuration takes. */
export function whoamiCommand(channels: Channels): ChatCommand {
  return {
    name: 'whoami',
    description: 'Who you are to me, and the ids that rules need',
    who: 'anyone',
    run: async (call) => whoami(call, channels),
  }
}

function whoami({ dispatch, decision }: CommandCall, channels: Channels): string {
  const { sender, address } = dispatch.event
  const { channel, account, chat, topic } = address
  const { person, role } = decision.identity
  const shared = identifiesNobody(channels, channel, sender) ? ', an id of nobody in particular' : ''
  const known = person === undefined ? '' : `, known to me as ${person}`
  const topicPart = topic === undefined ? '' : `, topic: "${topic}"`
  return [
    `You are \`${platformIdOf(channels, channel, sender)}\`${shared}${known}; your role is ${role}.`,
    `This place is \`${formatAddress(address)}\`; a rule for it begins with \`match: { channel: ${channel}, account: ${account}, chat: "${chat}"${topicPart} }\``,
  ].join('\n')
}
