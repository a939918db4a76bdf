import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

export function addApprovals(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const approvals = program.command('approvals').description('look at what the agent asks to do, and answer')
  approvals
    .command('list')
    .description('list the calls of tools that wait for a yes, each in full')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { listApprovals } = await import('./commands/approvals.ts')
      ended(await listApprovals(ports, command.optsWithGlobals()))
    })
  for (const [verdict, description] of [
    ['approve', 'let exactly this call be made, once'],
    ['deny', 'refuse it'],
  ] as const) {
    approvals
      .command(verdict)
      .description(description)
      .argument('<code>', 'its code, as "approvals list" shows it', nonBlank)
      .option(...JSON_OPTION)
      .action(async (code: string, _options, command: Command) => {
        const { decideApproval } = await import('./commands/approvals.ts')
        ended(await decideApproval(ports, { ...command.optsWithGlobals<ReadOptions>(), code, verdict }))
      })
  }
}
