import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, wholeNumber } from './program-parts.ts'

const NUMBER = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** Adds `parley memory …`. */
export function addMemory(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const memory = program.command('memory').description('look at what agents remember, and remove it')
  memory
    .command('list')
    .description('list what is remembered, newest first, 50 at a time')
    .argument('[words...]', 'only what has these words or parts of words')
    .option('--before <number>', 'only what has a smaller number', NUMBER)
    .option(...JSON_OPTION)
    .action(async (words: readonly string[], _options, command: Command) => {
      const { listMemory } = await import('./commands/memory.ts')
      ended(await listMemory(ports, { ...command.optsWithGlobals(), words: words.join(' ') }))
    })
  for (const [verb, description] of [
    ['show', 'show an entry with where it was learned and whose words it is'],
    ['remove', 'remove an entry for good'],
  ] as const) {
    memory
      .command(verb)
      .description(description)
      .argument('<number>', 'its number, as "memory list" prints it', NUMBER)
      .option(...JSON_OPTION)
      .action(async (no: number, _options, command: Command) => {
        const { oneEntry } = await import('./commands/memory.ts')
        ended(await oneEntry(ports, { ...command.optsWithGlobals(), no, verb }))
      })
  }
}
