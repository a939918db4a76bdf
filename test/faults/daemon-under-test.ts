import { catalogue } from '../../adapters/index.ts'
import { exitCodeOf } from '../../src/cli/run-command.ts'
import { EXIT } from '../../src/core/errors.ts'
import { startDaemon } from '../../src/daemon/start.ts'
import { jsonLogger } from './json-logger.ts'
import { armKillSwitch } from './kill-switch.ts'
import { probeTools } from './probe-tools.ts'
import { configOf, readSetup } from './setup-file.ts'

/** Entry of the test build: `node daemon-under-test.js <setup file> [failpoint [file that arms it]]`. Ends on SIGTERM, as the daemon does. */
const [, , setupFile = '', failpoint = '', armedBy = ''] = process.argv
const setup = readSetup(setupFile)
const logger = jsonLogger()
armKillSwitch(failpoint, armedBy)

const terminated = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()))
// Timers of the daemon never keep a process alive; until it is told to stop, this one does.
const alive = setInterval(() => {}, 60_000)
try {
  const daemon = await startDaemon({
    config: configOf(setup),
    logger,
    version: 'under test',
    plugins: catalogue,
    socketPath: setup.socketPath,
    delivery: setup.delivery,
    tools: { probe: probeTools(setup.probeFile) },
  })
  await Promise.race([terminated, daemon.stopped])
  await daemon.stop()
  process.exitCode = EXIT.ok
} catch (err) {
  logger.error('The daemon ended', { err })
  process.exitCode = exitCodeOf(err)
}
clearInterval(alive)
// As the program does: a client library may still hold a connection.
setTimeout(() => process.exit(), 500).unref()
