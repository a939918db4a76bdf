import type { Command } from 'commander'
import { SCOPES } from '../core/token.ts'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank, wholeNumber } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

interface TokenOptions extends ReadOptions {
  readonly owner?: boolean
  readonly scope?: readonly string[]
  readonly days?: number
  readonly label?: string
}

/** Adds `parley token …`. */
export function addTokens(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const token = program.command('token').description('tokens for programs that use the API')
  token
    .command('create')
    .description('make a token and print it, once')
    .argument(
      '[namespace]',
      '<channel>, api, web:<name> …: the sessions it reaches begin with it and a colon',
      nonBlank,
    )
    .option('--owner', 'it reaches what an owner reaches, in place of a namespace')
    .option('--scope <scope...>', `what it is for: ${SCOPES.join(', ')}`)
    .option('--days <days>', 'it ends after so many days', wholeNumber(1, 3_650))
    .option('--label <text>', 'what it is for, in your words')
    .option(...JSON_OPTION)
    .action(async (namespace: string | undefined, _options, command: Command) => {
      const { createToken } = await import('./commands/token.ts')
      const { owner, scope, days, label, ...options } = command.optsWithGlobals<TokenOptions>()
      ended(await createToken(ports, { namespace, owner, scopes: scope, days, label }, options))
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
