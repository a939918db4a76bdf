import { type Command, InvalidArgumentError, Option } from 'commander'
import { PEER_KINDS, type PeerKind } from '../core/peer-setup.ts'
import type { InitOptions } from './commands/init.ts'
import type { CliPorts } from './ports.ts'

const HELP = `
Without a terminal, or with --yes, nothing is asked: flags answer, and a daemon
is started with --start alone. A secret is named by its source, never written
here: env:NAME, file:PATH, or - for standard input.

  parley init --platform <name> --token <name>=env:NAME --model ollama/x --yes

Exit codes: 0 done, 1 left before the end, 2 a flag is missing or wrong, 75 the
daemon of another configuration runs, 78 a token or a setting is refused.`

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** Reads ids with commas between; one without its platform would be whoever has that number on any of them. */
const owners = (value: string, before: readonly string[] = []): readonly string[] => {
  const ids = value.split(',').map((id) => id.trim())
  if (ids.every((id) => id.includes(':'))) return [...before, ...ids]
  throw new InvalidArgumentError('Write <platform>:<id>.')
}

/** Adds the guided start. */
export function addInit(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  program
    .command('init')
    .description('set up a bot step by step: its platforms, a model, you as the owner; again: change that')
    .option('--platform <names>', 'the platforms, with commas between', several)
    .option(
      '--token <platform=source>',
      'the source of a token; <platform>.<setting>=... where there are several',
      several,
    )
    .option('--api-root <platform=address>', 'another server that speaks the API of the platform', several)
    .option('--model <server/model>', 'the model that answers, such as ollama/qwen3')
    .option('--base-url <address>', 'the address of its server')
    .option('--api-key <source>', 'the source of its key')
    .option('--owner <id>', 'who is the owner, as <platform>:<id>; else the first to come with the code', owners)
    .addOption(
      new Option('--from <program>', 'take over what another program was set up with').choices([...PEER_KINDS]),
    )
    .option('--folder <folder>', 'where that program keeps it, if not at its usual place')
    .option('--start', 'start the daemon at the end')
    .option('--no-start', 'write the configuration, and start nothing')
    .option('--dry-run', 'print the configuration, and write nothing')
    .option('--force', 'begin with a new configuration; a copy of the old one is kept')
    .option('--yes', 'ask nothing')
    .addHelpText('after', HELP)
    .action(async (_options, command: Command) => {
      const { init } = await import('./commands/init.ts')
      const options = command.optsWithGlobals<InitOptions & { readonly from?: PeerKind }>()
      ended(await init(ports, options))
    })
}
