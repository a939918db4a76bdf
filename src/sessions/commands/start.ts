import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Access } from '../people/access.ts'
import type { Admissions } from '../people/admissions.ts'

export interface StartDeps {
  readonly access: Pick<Access, 'claim' | 'ownerKnown' | 'unownedLine'>
  readonly admissions: Pick<Admissions, 'ownerWrote'>
}

/** `/start` greets, and claims a bot that nobody owns yet, as links do. From a stranger it asks to be let in. */
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

/** `/claim` makes its sender the owner of a bot that nobody owns yet. */
export function claimCommand(deps: StartDeps): ChatCommand {
  return {
    name: 'claim',
    description: 'Become my owner',
    args: 'the code that I print where I was started',
    who: 'anyone',
    changesSender: true,
    open: true,
    unowned: true,
    async run(call) {
      if (call.args !== '') return claim(call, deps)
      if (!deps.access.ownerKnown) return deps.access.unownedLine(call.dispatch.event.address.channel)
      throw new ParleyError('conflict', 'This bot already has an owner.')
    },
  }
}

async function start(call: CommandCall, deps: StartDeps): Promise<string> {
  const { role } = call.decision.identity
  if (call.args !== '' && role !== 'owner') return claim(call, deps)
  // Once there is an owner, a guest who gets this far was let in, or anybody may talk here.
  return role !== 'guest' || deps.access.ownerKnown
    ? 'Hello! Say anything, or `/help` to see what I can do.'
    : deps.access.unownedLine(call.dispatch.event.address.channel)
}

async function claim({ dispatch, decision, args }: CommandCall, { access, admissions }: StartDeps): Promise<string> {
  const { address, sender } = dispatch.event
  if (address.chatType !== 'direct')
    throw new ParleyError('forbidden', 'Claim me in a direct chat, where nobody else reads the code.')
  const { person, role } = decision.identity
  if (person !== undefined && role !== 'owner') {
    const remedy = `people.${person}.role in the configuration says who owns me`
    throw new ParleyError('forbidden', `You are ${person} to me, and ${remedy}.`)
  }
  await access.claim(address.channel, sender, args)
  admissions.ownerWrote(dispatch.event, dispatch.receivedAt)
  return 'You are my owner now. Say anything, or `/help` to see what I can do.'
}
