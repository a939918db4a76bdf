import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'

/** Adds the commands for tool servers. */
export function addMcp(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const mcp = program.command('mcp').description('list and test tool servers (Model Context Protocol)')
  mcp
    .command('list')
    .description('list the servers of the configuration')
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
}
