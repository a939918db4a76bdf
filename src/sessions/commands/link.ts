import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import { identifiesNobody } from '../../core/platform-id.ts'
import { askerOf, type Links } from '../people/links.ts'

export interface LinkCommandDeps {
  readonly links: Pick<Links, 'offer' | 'redeem'>
  readonly channels: Channels
}

/** `/link` gives a code on one platform; that code on another makes both ids one person. */
export function linkCommand(deps: LinkCommandDeps): ChatCommand {
  return {
    name: 'link',
    description: 'Be the same person to me on another platform',
    args: 'the code I gave you there',
    who: 'anyone',
    open: true,
    changesSender: true,
    run: (call) => link(call, deps),
  }
}

async function link(call: CommandCall, { links, channels }: LinkCommandDeps): Promise<string> {
  const { dispatch, decision, args, inboxId } = call
  const { address, sender } = dispatch.event
  if (address.chatType !== 'direct') {
    const spent = args === '' ? '' : ' That code is spent now: others have read it.'
    return `Ask me for that in a direct chat, where nobody else reads the code.${spent}`
  }
  if (identifiesNobody(channels, address.channel, sender)) {
    throw new ParleyError('forbidden', 'Write to me as yourself: this account stands for no single person.')
  }
  if (args !== '') {
    const person = await links.redeem({ ...askerOf(channels, call), inboxId, traceId: dispatch.traceId }, args)
    return `You are ${person} to me here too.`
  }
  const { person, role } = decision.identity
  if (person === undefined || role === 'guest') {
    return 'I do not know you here. Send me `/link` where I do, and the code you get there here.'
  }
  const code = await links.offer(askerOf(channels, call), person)
  return `Within ten minutes, send me this code on the other platform, in a direct chat:\n\n\`${code}\`\n\nKeep it to yourself: whoever sends it there first is ${person} to me.`
}
