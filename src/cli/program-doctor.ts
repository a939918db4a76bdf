import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

/** Adds `parley doctor` and `parley support`. */
export function addDoctor(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  program
    .command('doctor')
    .description('look for whatever is wrong: platforms, models, database, disk, unit; each with its remedy')
    .argument('[parts...]', 'only these, such as model, disk, database')
    .option('--offline', 'ask nothing over the network')
    .option('--fix', 'mend what is safe: modes of files, a socket that was left')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nEach model is asked for one word, which costs a fraction of a cent.\n' +
        'Exit codes: 0 nothing has failed, 1 something has, 78 no configuration is read.',
    )
    .action(async (parts: readonly string[], _options, command: Command) => {
      const { doctor } = await import('./commands/doctor.ts')
      ended(await doctor(ports, { ...command.optsWithGlobals(), parts }))
    })
  program
    .command('support')
    .description('write a file to attach to a report, without secrets, names and words')
    .argument('[file]', 'where to write it (default: parley-support-<date>.json here)', nonBlank)
    .option('--force', 'replace a file that is there')
    .option(...JSON_OPTION)
    .action(async (file: string | undefined, _options, command: Command) => {
      const { support } = await import('./commands/support.ts')
      const given = command.optsWithGlobals<ReadOptions & { readonly force?: boolean }>()
      ended(await support(ports, { ...given, ...(file === undefined ? {} : { file }) }))
    })
}
