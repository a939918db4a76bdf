import type { ChatCommand, CommandCall } from '../../core/command.ts'

/** `/help` lists what the sender may ask for. `all` returns every command of the daemon, from any stage. */
export function helpCommand(all: () => readonly ChatCommand[]): ChatCommand {
  return { name: 'help', description: 'What I can do', who: 'anyone', run: async (call) => help(call, all()) }
}

function help({ decision }: CommandCall, all: readonly ChatCommand[]): string {
  const { role, person } = decision.identity
  const known = all.filter(
    ({ who, also = [] }) => role === 'owner' || who === 'anyone' || (person !== undefined && also.includes(person)),
  )
  return known.map(({ name, description, args }) => `/${name}: ${description}${args ? ` (${args})` : ''}`).join('\n')
}
