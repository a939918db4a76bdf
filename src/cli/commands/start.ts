import { EXIT, ParleyError } from '../../core/errors.ts'
import type { CliPorts, LoadedConfig, RunningDaemon } from '../ports.ts'
import { printStarted } from '../print/started.ts'
import { reportError } from '../report-error.ts'
import { fitted } from '../show.ts'
import { type Hangups, watchHangups, watchSignals } from '../watch-signals.ts'

type StartPorts = Pick<CliPorts, 'env' | 'stdout' | 'stderr' | 'load' | 'start' | 'onSignal' | 'onHangup'>

/**
 * Runs the daemon in the foreground. Resolves with 0 after the drain that a first SIGINT or SIGTERM, or the end of its
 * terminal, begins, with 1 at once on a second one (the caller then ends the process) and with 1 if the daemon stops by
 * itself.
 */
export async function start(ports: StartPorts, file?: string): Promise<number> {
  const hangups = watchHangups(ports.onHangup)
  try {
    const loaded = await ports.load(file)
    if (loaded.config.ofService) throw new ParleyError('config', OF_SERVICE)
    const signals = watchSignals(ports.onSignal)
    try {
      const stopped = run(ports, loaded, { hangups, asked: signals.first })
      return await Promise.race([stopped, signals.second.then(() => EXIT.failed)])
    } finally {
      signals.close()
    }
  } finally {
    hangups.close()
  }
}

const OF_SERVICE = 'The service of the machine runs as a user of its own. Run:\n  systemctl start parley'

interface Asked {
  readonly hangups: Hangups
  /** Resolves with the first signal that ends the daemon. */
  readonly asked: Promise<string>
}

async function run(ports: StartPorts, loaded: LoadedConfig, { hangups, asked }: Asked): Promise<number> {
  const daemon = await ports.start(loaded)
  hangups.handle(daemon.reload)
  let stopping = false
  // Not awaited: a channel that is still connecting must not delay a stop.
  void announce(ports, { daemon, loaded, quiet: () => stopping })
  try {
    const signal = await Promise.race([asked, daemon.stopped.then(() => undefined)])
    if (signal === undefined) ports.stderr.write('The daemon stopped by itself; its log says why.\n')
    else ports.stdout.write('Stopping; a second signal stops at once.\n')
    return signal === undefined ? EXIT.failed : EXIT.ok
  } finally {
    stopping = true
    await daemon.stop()
  }
}

interface Announcement {
  readonly daemon: RunningDaemon
  readonly loaded: LoadedConfig
  quiet(): boolean
}

/** Prints the opening lines once the channels have settled. A daemon that cannot report its status still runs. */
async function announce(ports: StartPorts, { daemon, loaded, quiet }: Announcement): Promise<void> {
  try {
    await daemon.settled()
    if (quiet()) return
    const report = await daemon.operator.status()
    if (!quiet()) ports.stdout.write(`${fitted(ports.stdout, printStarted(report, loaded.config)).join('\n')}\n`)
  } catch (error) {
    if (!quiet()) reportError(ports, error)
  }
}
