import { type ErrorCode, EXIT, errorCode } from '../core/errors.ts'
import { isFull } from '../core/full-disk.ts'
import { start } from './commands/start.ts'
import type { CliPorts } from './ports.ts'
import { reportError } from './report-error.ts'

/**
 * Runs one command line (`argv` without program and script) and resolves with its exit code: 0, 1 failure, 2 usage,
 * 74 a disk that takes no writes, 75 the store is in use, 78 configuration. Never rejects and never ends the process.
 */
export async function runCommand(argv: readonly string[], ports: CliPorts): Promise<number> {
  try {
    // A service manager runs only `start`, which saves the 10 ms of loading the parser.
    if (argv.length === 1 && argv[0] === 'start') return await start(ports)
    const { parseCommand } = await import('./program.ts')
    return await parseCommand(argv, ports)
  } catch (error) {
    reportError(ports, error)
    return exitCodeOf(error)
  }
}

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid: EXIT.usage,
  too_long: EXIT.usage,
  store_locked: EXIT.locked,
  store_broken: EXIT.disk,
  migration_failed: EXIT.migration,
  config: EXIT.config,
  // Only another program, file or installation fixes these, so a service manager must not try again.
  no_driver: EXIT.config,
  store_newer: EXIT.config,
}

/** Returns the exit code of a command that failed. */
export function exitCodeOf(error: unknown): number {
  return CODES[errorCode(error)] ?? (isFull(error) ? EXIT.disk : EXIT.failed)
}
