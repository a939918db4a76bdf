import { Readable } from 'node:stream'
import { catalogue } from '../../adapters/index.ts'
import type { CliPorts } from '../../src/cli/ports.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import type { Config } from '../../src/config/config.ts'
import { commandPorts } from '../../src/daemon/command-ports.ts'

export interface CommandRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `parley` as an operator on the machine would: over the socket of the daemon or, without one, on its store. */
export async function parley(
  config: Config,
  argv: readonly string[],
  { isTTY = false }: { readonly isTTY?: boolean } = {},
): Promise<CommandRun> {
  const said = { out: '', err: '' }
  const into = (where: keyof typeof said) => (text: string) => {
    said[where] += text
  }
  const unexpected = (): never => {
    throw new Error('this was not expected')
  }
  const ports: CliPorts = {
    ...commandPorts({ version: 'test', plugins: catalogue, around: { env: {}, cwd: config.dataDir } }),
    ...{ env: {}, cwd: config.dataDir, now: Date.now, version: 'test', variables: [] },
    stdout: { isTTY: false, write: into('out') },
    stderr: { isTTY, write: into('err') },
    load: () => ({ config, secrets: [] }),
    ...{
      machine: unexpected,
      support: unexpected,
      start: unexpected,
      runDemo: unexpected,
      configSchema: unexpected,
      explain: unexpected,
    },
    stdin: Readable.from([]),
    ...{ compile: () => [], onSignal: unexpected, onHangup: unexpected },
  }
  const code = await runCommand(argv, ports)
  return { code, ...said }
}
