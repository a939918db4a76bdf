import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank, wholeNumber } from './program-parts.ts'

/** Adds the commands for tool servers. */
export function addMcp(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const mcp = program.command('mcp').description('list, test and log in at tool servers (Model Context Protocol)')
  mcp
    .command('list')
    .description('list the servers of the configuration, and how they do')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listMcp } = await import('./commands/mcp.ts')
      ended(await listMcp(ports, command.optsWithGlobals()))
    })
  mcp
    .command('test')
    .description('connect to a server as the daemon would, and show its tools')
    .argument('<server>', 'its name under tools.mcp', nonBlank)
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { testMcp } = await import('./commands/mcp.ts')
      ended(await testMcp(ports, name, command.optsWithGlobals()))
    })
  mcp
    .command('login')
    .description('log in at a server that asks for it (OAuth), with a browser here or elsewhere')
    .argument('<server>', 'its name under tools.mcp', nonBlank)
    .option('--port <number>', 'the port on this machine to which the browser comes back', wholeNumber(1, 65_535))
    .option('--localhost', 'the browser comes back to localhost by that name, for servers that refuse 127.0.0.1')
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { loginMcp } = await import('./commands/mcp-login.ts')
      ended(await loginMcp(ports, name, command.optsWithGlobals()))
    })
  mcp
    .command('logout')
    .description('forget the login at a server')
    .argument('<server>', 'its name under tools.mcp', nonBlank)
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { logoutMcp } = await import('./commands/mcp-login.ts')
      ended(await logoutMcp(ports, name, command.optsWithGlobals()))
    })
}
