import { formatAddress } from '../../core/address.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'

/** `/whoami`: the ids that carry authority, as the configuration writes them. */
export function whoamiCommand(): ChatCommand {
  return { name: 'whoami', description: 'Who you are to me', who: 'anyone', run: async (call) => whoami(call) }
}

function whoami({ dispatch, decision }: CommandCall): string {
  const { sender, address } = dispatch.event
  const person = decision.identity.person ? `, known to me as ${decision.identity.person}` : ''
  return `You are \`${address.channel}:${sender.id}\`${person}; your role is ${decision.identity.role}. This place is \`${formatAddress(address)}\`.`
}
