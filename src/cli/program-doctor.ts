import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION } from './program-parts.ts'

/** Adds `parley doctor`. */
export function addDoctor(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  program
    .command('doctor')
    .description('look for whatever is wrong: platforms, models, database, disk, unit; each with its remedy')
    .argument('[parts...]', 'only these, such as telegram, model, database')
    .option('--offline', 'ask nothing over the network')
    .option('--fix', 'mend what is safe: modes of files, a socket that was left')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nEach model is asked for one word, which costs a fraction of a cent.\n' +
        'Exit codes: 0 nothing has failed, 1 something has, 78 no configuration could be read.',
    )
    .action(async (parts: readonly string[], _options, command: Command) => {
      const { doctor } = await import('./commands/doctor.ts')
      ended(await doctor(ports, { ...command.optsWithGlobals(), parts }))
    })
}
