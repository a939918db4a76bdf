import { start } from './commands/start.ts'
import { exitCodeOf } from './exit-code.ts'
import type { CliPorts } from './ports.ts'
import { reportError } from './report-error.ts'

/**
 * Runs one command line (`argv` without program and script) and resolves with its exit code: 0, 1 failure, 2 usage,
 * 75 the store is in use, 78 configuration. Never rejects and never ends the process.
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
