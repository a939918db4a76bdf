import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'

export interface HelpCommandDeps {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns every command of the daemon, from any stage. */
  all(): readonly ChatCommand[]
}

/** `/help` lists what the sender may ask for, as it is typed there. */
export function helpCommand(deps: HelpCommandDeps): ChatCommand {
  return { name: 'help', description: 'What I can do', who: 'anyone', run: async (call) => help(call, deps) }
}

function help({ decision, dispatch }: CommandCall, { channels, all }: HelpCommandDeps): string {
  const { commandMark: mark = '/' } = channels.traits(dispatch.event.address.channel)
  const { role, person } = decision.identity
  const known = all().filter(
    ({ who, also = [] }) => role === 'owner' || who === 'anyone' || (person !== undefined && also.includes(person)),
  )
  return known
    .map(({ name, description, args }) => `${mark}${name}: ${description}${args ? ` (${args})` : ''}`)
    .join('\n')
}
