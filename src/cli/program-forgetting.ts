import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION } from './program-parts.ts'

const KINDS = [
  ['message', 'forget one message and the answer to it', 'its number, trace id or link'],
  ['person', 'forget what somebody said, everywhere', 'a name under people, or an id as <channel>:<id>'],
  [
    'chat',
    'forget a conversation as a whole',
    'its title or its key (a chat with all its topics), or the id of one session, as "sessions show" says it',
  ],
] as const

/** Adds `parley forget …` and `parley retention …`. */
export function addForgetting(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const forget = program
    .command('forget')
    .description(
      'take what was said out of every store for good: logs, search, memory, summaries, files, outbox; a daemon has to run',
    )
  for (const [kind, description, what] of KINDS) {
    const command = forget
      .command(kind)
      .description(description)
      .argument('<name>', what)
      .option('--yes', 'do it; without it what would be removed is listed, and nothing is')
      .option('--dry-run', 'list what would be removed, and remove nothing')
      .option(...JSON_OPTION)
    if (kind !== 'message') command.option('--since <time>', 'only what was said since: 2h, 3d, or a day as 2026-11-01')
    command.action(async (name: string, _options, command: Command) => {
      const { forgetNamed } = await import('./commands/forget.ts')
      ended(await forgetNamed(ports, { ...command.optsWithGlobals(), kind, name }))
    })
  }
  const retention = program
    .command('retention')
    .description('look at the age limits of conversations, and apply them; a daemon has to run')
  for (const [verb, description] of [
    ['list', 'list the limits, what each would remove now, and since when it does'],
    ['run', 'apply the limits now, also those that were reported and wait'],
  ] as const) {
    retention
      .command(verb)
      .description(description)
      .option(...JSON_OPTION)
      .action(async (_options, command: Command) => {
        const { retention } = await import('./commands/forget.ts')
        ended(await retention(ports, { ...command.optsWithGlobals(), verb }))
      })
  }
}
