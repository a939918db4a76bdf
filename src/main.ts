import { fileURLToPath } from 'node:url'
import { catalogue } from '../adapters/index.ts'
import type { CliPorts, LoadedConfig, RunningDaemon } from './cli/ports.ts'
import { runCommand } from './cli/run-command.ts'
import { socketPathOf } from './cli/socket-path.ts'
import { watchOutput } from './cli/watch-output.ts'
import { signalsOf } from './cli/watch-signals.ts'
import { variableLines } from './config/environment.ts'
import { loadConfig } from './config/load-config.ts'
import { surroundingsOf } from './config/places.ts'
import { traitsOf } from './config/schema.ts'
import { createChannels } from './core/channel-traits.ts'
import { systemClock } from './core/clock.ts'
import type { RoutingPolicy } from './core/policy.ts'
import { commandPorts } from './daemon/command-ports.ts'
import { useCompileCache, userHome } from './platform/compile-cache.ts'
import { settleHost } from './platform/host.ts'
import { inWords, writersOf } from './platform/private-folder.ts'
import { createNotifier, startWatchdog } from './platform/sd-notify.ts'
import { collectWhenIdle, keepHeapSmall } from './platform/small-heap.ts'
import { VERSION } from './platform/version.ts'
import type { CronText, TimingMistake } from './schedule/check-cron.ts'

const LINGER_MS = 500
const { env, stdin, stdout, stderr } = process
const signals = signalsOf(process)
const home = userHome()
const around = surroundingsOf(process, home)
const doubts = settleHost(env)

const ports: CliPorts = {
  ...{ env, cwd: around.cwd, stdin, stdout, stderr },
  now: () => systemClock.now(),
  version: VERSION,
  variables: variableLines(createChannels(traitsOf(catalogue))),
  load(path, use = 'run', texts) {
    const asked = { ...(path === undefined ? {} : { path }), ...(texts === undefined ? {} : { texts }) }
    return loadConfig({ ...around, catalogue, checkTiming, checkRules, use, ...asked })
  },
  start,
  machine: async () =>
    (await import('./platform/machine.ts')).thisMachine(env, new URL('main.js', import.meta.url).href),
  ...commandPorts({ version: VERSION, plugins: catalogue, around }),
  async runDemo({ once }) {
    const { runDemo } = await import('./rehearsal/demo/run-demo.ts')
    const daemon = [process.execPath, fileURLToPath(new URL('main.js', import.meta.url))] as const
    // The demo has to end its daemon. It gets a Ctrl-C twice under npm, from the terminal and from npm.
    const cut = new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve)
    })
    return runDemo({ once, daemon, input: stdin, output: stdout, cut })
  },
  configSchema: async () => (await import('./config/json-schema.ts')).configJsonSchema(catalogue),
  async compile({ file, routing, store }) {
    const { warnings } = (await import('./routing/compile-routing.ts')).compileRouting(routing)
    const { storeWarnings } = await import('./daemon/store-warnings.ts')
    return [...doubts, ...writersOf(file).map(inWords), ...warnings, ...(await storeWarnings(store))]
  },
  explain: async (config, known) => (await import('./config/explain.ts')).explainConfig(config, known),
  onSignal: signals.onSignal,
  onHangup: signals.onHangup,
}

/** The calendar is loaded for who has a schedule. */
async function checkTiming(timing: CronText): Promise<readonly TimingMistake[]> {
  return (await import('./schedule/check-cron.ts')).checkTiming(timing)
}

async function checkRules(policy: RoutingPolicy): Promise<void> {
  ;(await import('./routing/compile-routing.ts')).compileRouting(policy)
}

/** Runs the daemon in the foreground, with its log, and notifies the service manager. */
async function start({ config, secrets }: LoadedConfig): Promise<RunningDaemon> {
  keepHeapSmall()
  const [{ useProxies }, { startDaemon }, { createPinoLogger }] = await Promise.all([
    import('./platform/way-out.ts'),
    import('./daemon/start.ts'),
    import('./platform/pino-logger.ts'),
  ])
  await useProxies()
  const logger = createPinoLogger({
    level: config.logging.level,
    pretty: config.logging.pretty && stderr.isTTY,
    secrets,
  })
  for (const warning of [...doubts, ...writersOf(config.file).map(inWords)])
    logger.warn('This machine is set up in a doubtful way', { warning })
  process.on('SIGUSR1', () => logger.warn('SIGUSR1 does nothing; SIGHUP reads the configuration again'))
  const notifier = createNotifier(env, (err) => logger.warn('The service manager could not be notified', { err }))
  const socketPath = socketPathOf(config)
  const reload = async () => (await ports.load(config.file)).config
  const own = { version: VERSION, plugins: catalogue, oldStores: around }
  const daemon = await startDaemon({ ...own, config, logger, socketPath, reload })
  const stopWatchdog = startWatchdog({ notifier, clock: systemClock, healthy: daemon.healthy })
  await notifier.ready()
  collectWhenIdle()
  return {
    ...daemon,
    socketPath,
    async stop() {
      await notifier.stopping()
      await daemon.stop()
      stopWatchdog()
    },
    reload() {
      daemon.operator.config.reload().catch((err) => logger.error('The configuration was not taken over', { err }))
    },
  }
}

// Without a handler Node would open its debugger to every user of the machine, from the first moment on.
process.on('SIGUSR1', () => {})
useCompileCache({ env, home })
watchOutput(process)

process.exitCode = await runCommand(process.argv.slice(2), ports)
signals.endWithTerminal()
// All is stopped and written. A client library may still hold a timer of minutes for an answer that was cut.
setTimeout(() => process.exit(), LINGER_MS).unref()
