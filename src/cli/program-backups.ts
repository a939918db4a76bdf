import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'

/** Adds `parley backup` and `parley restore`. */
export function addBackups(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const whole = (path: string): string => resolve(ports.cwd, nonBlank(path))
  program
    .command('backup')
    .description('copy the store, its files and the configuration without secrets; the daemon may run')
    .argument('[folder]', 'where the copies are kept (else backup.to, else backups in the state folder)', whole)
    .option('--keep <rule>', 'then keep the newest of so many days, weeks, months: 7d,4w,12m; others of it are removed')
    .option('--verify [copy]', 'make none; check this copy, or the newest, to the last file')
    .option(...JSON_OPTION)
    .action(async (folder: string | undefined, options: { verify?: true | string }, command: Command) => {
      const { backup, verify } = await import('./commands/backup.ts')
      const given = command.optsWithGlobals()
      const copy = typeof options.verify === 'string' ? whole(options.verify) : folder
      ended(options.verify ? await verify(ports, copy, given) : await backup(ports, folder, given))
    })
  program
    .command('restore')
    .description('put a backup in the place of the store; stop the daemon first')
    .argument('<backup>', 'the folder of one backup', whole)
    .option('--yes', 'do it; without it what would be done is listed, and nothing is')
    .option('--dry-run', 'list what would be done, and write nothing')
    .option('--newer <folder>', 'a newer state folder: what was forgotten there is forgotten here too', whole)
    .option(...JSON_OPTION)
    .action(async (from: string, _options, command: Command) => {
      const { restore } = await import('./commands/backup.ts')
      ended(await restore(ports, from, command.optsWithGlobals()))
    })
}
