import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION } from './program-parts.ts'

/** Adds the commands that install the program as a service, bring it up to date and remove it. */
export function addInstall(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const service = program.command('service').description('run the daemon as a service of this machine or of a user')
  const which = (command: Command): Command =>
    command
      .option('--user', 'as a service of this user (the default but for root)')
      .option('--system', 'as a service of the machine, under an account of its own')
  which(service.command('install'))
    .description('write its unit, start it now and with the machine, and wait until it is ready')
    .option('--dry-run', 'print the unit and the commands, and change nothing')
    .option('--force', 'replace a unit that was written or changed by somebody else')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { installService } = await import('./commands/service.ts')
      ended(await installService(ports, command.optsWithGlobals()))
    })
  which(service.command('status'))
    .description('show its unit, whether it runs, and why it ended')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExit codes: 0 it runs, 1 it does not.')
    .action(async (_options, command: Command) => {
      const { showService } = await import('./commands/service.ts')
      ended(await showService(ports, command.optsWithGlobals()))
    })
  which(service.command('uninstall'))
    .description('stop it and remove its unit; data and configuration stay')
    .option('--dry-run', 'print the commands, and change nothing')
    .option('--force', 'remove a unit that was written or changed by somebody else')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { uninstallService } = await import('./commands/service.ts')
      ended(await uninstallService(ports, command.optsWithGlobals()))
    })
  program
    .command('upgrade')
    .description('show which version runs and what the next start changes; with a packed file, install it')
    .argument('[file]', 'a newer program, as "npm pack" writes it')
    .option('--dry-run', 'show what it would do, and change nothing')
    .option('--yes', 'do it: backup, installation, restart of the service')
    .option('--no-backup', 'make no backup first')
    .option(...JSON_OPTION)
    .action(async (file: string | undefined, _options, command: Command) => {
      const { upgrade } = await import('./commands/upgrade.ts')
      ended(await upgrade(ports, { ...command.optsWithGlobals(), ...(file === undefined ? {} : { file }) }))
    })
  program
    .command('uninstall')
    .description('name everything of Parley on this machine, and remove the service and the program')
    .option('--yes', 'remove them')
    .option('--purge', 'remove what it has kept too: conversations, files, people')
    .option(...JSON_OPTION)
    .action(async (_options, command: Command) => {
      const { uninstall } = await import('./commands/uninstall.ts')
      ended(await uninstall(ports, command.optsWithGlobals()))
    })
}
