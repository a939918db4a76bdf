import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

/** Adds `parley token …`. */
export function addTokens(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const token = program.command('token').description('tokens for programs that speak for a channel')
  token
    .command('create')
    .description('make a token and print it, once')
    .argument('<namespace>', '<channel>, web:<name> …: the sessions it reaches begin with it and a colon', nonBlank)
    .option('--label <text>', 'what it is for')
    .option(...JSON_OPTION)
    .action(async (namespace: string, _options, command: Command) => {
      const { createToken } = await import('./commands/token.ts')
      ended(await createToken(ports, namespace, command.optsWithGlobals()))
    })
  token
    .command('list')
    .description('list tokens, newest first')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listTokens } = await import('./commands/token.ts')
      ended(await listTokens(ports, command.optsWithGlobals<ReadOptions>()))
    })
  token
    .command('revoke')
    .description('take a token back')
    .argument('<id>', 'its id, as "token list" prints it', nonBlank)
    .option(...JSON_OPTION)
    .action(async (id: string, _options, command: Command) => {
      const { revokeToken } = await import('./commands/token.ts')
      ended(await revokeToken(ports, id, command.optsWithGlobals<ReadOptions>()))
    })
}
