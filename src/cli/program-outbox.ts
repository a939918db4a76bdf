import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

export function addOutbox(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const outbox = program
    .command('outbox')
    .description('decide about what is held after the database was put back, and about single deliveries')
  outbox
    .command('list')
    .description('show what is held, and what was left unanswered')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { showOutbox } = await import('./commands/outbox.ts')
      ended(await showOutbox(ports, command.optsWithGlobals()))
    })
  for (const [verdict, description] of [
    ['resume', 'send what is held'],
    ['discard', 'end what is held unsent'],
  ] as const) {
    outbox
      .command(verdict)
      .description(description)
      .option(...JSON_OPTION)
      .action(async (_options, command: Command) => {
        const { decideOutbox } = await import('./commands/outbox.ts')
        ended(await decideOutbox(ports, { ...command.optsWithGlobals<ReadOptions>(), verdict }))
      })
  }
  for (const [verdict, description] of [
    ['retry', 'send a delivery that did not arrive once more, with the rest of its message'],
    ['drop', 'end a delivery that is owed still, was refused, or whose outcome nobody knows'],
  ] as const) {
    outbox
      .command(verdict)
      .description(description)
      .argument('<delivery>', 'its id, as parley status shows it', nonBlank)
      .option(...JSON_OPTION)
      .action(async (id: string, _options, command: Command) => {
        const { decideDelivery } = await import('./commands/outbox.ts')
        ended(await decideDelivery(ports, id, { ...command.optsWithGlobals<ReadOptions>(), verdict }))
      })
  }
}
