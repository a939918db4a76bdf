import type { Command } from 'commander'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION } from './program-parts.ts'

/** Adds the commands that encrypt and decrypt the store. */
export function addStore(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  const store = program.command('store').description('encrypt or decrypt what is kept; stop the daemon first')
  for (const [name, to, what] of [
    ['encrypt', 'encrypted', 'encrypt the database, its copies and the files with store.key'],
    ['decrypt', 'plain', 'decrypt them again, with the same store.key'],
  ] as const)
    store
      .command(name)
      .description(`${what}; after an interruption it goes on where it was`)
      .option(...JSON_OPTION)
      .action(async (_options, command: Command) => {
        const { convertStore } = await import('./commands/store.ts')
        ended(await convertStore(ports, to, command.optsWithGlobals()))
      })
}
