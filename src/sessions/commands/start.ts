import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Access } from '../people/access.ts'
import type { Admissions } from '../people/admissions.ts'

export interface StartDeps {
  readonly access: Pick<Access, 'claim' | 'ownerKnown'>
  readonly admissions: Pick<Admissions, 'ownerWrote'>
}

/** `/start` greets, and claims a bot that nobody owns yet. From a stranger it asks to be let in. */
export function startCommand(deps: StartDeps): ChatCommand {
  return {
    name: 'start',
    description: 'Say hello, or claim this bot with its code',
    args: 'the code the daemon printed',
    who: 'anyone',
    changesSender: true,
    open: true,
    asks: true,
    run: (call) => start(call, deps),
  }
}

async function start({ dispatch, decision, args }: CommandCall, { access, admissions }: StartDeps): Promise<string> {
  const { address, sender } = dispatch.event
  if (args !== '' && decision.identity.role !== 'owner') {
    if (address.chatType !== 'direct')
      throw new ParleyError('forbidden', 'Claim me in a direct chat, where nobody else reads the code.')
    const { person } = decision.identity
    if (person !== undefined) {
      const remedy = `people.${person}.role in the configuration says who owns me`
      throw new ParleyError('forbidden', `You are ${person} to me, and ${remedy}.`)
    }
    await access.claim(address.channel, sender, args)
    admissions.ownerWrote(dispatch.event, dispatch.receivedAt)
    return 'You are my owner now. Say anything, or `/help` to see what I can do.'
  }
  // Once there is an owner, a guest who gets this far was let in, or anybody may talk here.
  return decision.identity.role !== 'guest' || access.ownerKnown
    ? 'Hello! Say anything, or `/help` to see what I can do.'
    : 'Nobody owns this bot yet. If it is yours, open the link the daemon printed at its start, or send me `/start <code>`.'
}
