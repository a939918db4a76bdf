import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { CliPorts, LoadedConfig, OfflineOperator, RunningDaemon } from '../../src/cli/ports.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { socketPathOf } from '../../src/cli/socket-path.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { ApiService, ServedOperator } from '../../src/core/operator.ts'
import { startLocalApi } from '../../src/http/local-api.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { writeExport } from '../../src/sessions/export/write-export.ts'
import { fakeChat } from '../fakes/chat-operator.ts'
import { fakeLive } from '../fakes/live-events.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { type FakeOperator, fakeOperator } from '../fakes/operator.ts'
import { policy } from '../fakes/routing-policy.ts'

export interface Rig {
  readonly ports: CliPorts
  readonly loaded: LoadedConfig
  /** The `--config` of each load. */
  readonly loads: (string | undefined)[]
  out(): string
  err(): string
  run(...argv: string[]): Promise<number>
  signal(name: string): void
  /** Sends SIGHUP; returns how many handlers there are for it. */
  hangUp(): number
  /** Resolves when something that holds `text` has been written to stdout. */
  printed(text: string): Promise<void>
}

/** The CLI over a data folder of its own; ports that a test does not give fail it when they are used. */
export async function rig(given: Partial<CliPorts> = {}): Promise<Rig> {
  const loaded = sampleConfig(await localFolder())
  const loads: (string | undefined)[] = []
  const handlers = new Set<(signal: string) => void>()
  const hangups = new Set<() => void>()
  const waiting: { text: string; resolve: () => void }[] = []
  let [out, err] = ['', '']
  const unexpected = (name: string) => (): never => {
    throw new Error(`${name} was not expected`)
  }
  const ports: CliPorts = {
    env: {},
    cwd: loaded.config.dataDir,
    now: () => Date.UTC(2026, 10, 21, 14, 7, 22),
    variables: ['Telegram: TELEGRAM_BOT_TOKEN'],
    version: '0.1.0',
    stdout: {
      isTTY: false,
      write(text) {
        out += text
        for (const { resolve } of waiting.filter((one) => out.includes(one.text))) resolve()
      },
    },
    stderr: {
      isTTY: false,
      write(text) {
        err += text
      },
    },
    load(path) {
      loads.push(path)
      return loaded
    },
    start: unexpected('start'),
    openOffline: unexpected('openOffline'),
    importSessions: unexpected('importSessions'),
    importBundle: unexpected('importBundle'),
    writeExport,
    convertStore: unexpected('convertStore'),
    stdin: Readable.from([]),
    mcp: unexpected('mcp'),
    support: unexpected('support'),
    examine: unexpected('examine'),
    machine: unexpected('machine'),
    setup: unexpected('setup'),
    backups: unexpected('backups'),
    storeSchema: unexpected('storeSchema'),
    ownData: unexpected('ownData'),
    removeData: unexpected('removeData'),
    runDemo: unexpected('runDemo'),
    configSchema: unexpected('configSchema'),
    compile: () => [],
    explain: unexpected('explain'),
    onSignal(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    onHangup(handler) {
      hangups.add(handler)
      return () => hangups.delete(handler)
    },
    ...given,
  }
  return {
    ports,
    loaded,
    loads,
    out: () => out,
    err: () => err,
    run: (...argv) => runCommand(argv, ports),
    signal(name) {
      for (const handler of [...handlers]) handler(name)
    },
    hangUp() {
      for (const handler of [...hangups]) handler()
      return hangups.size
    },
    printed: (text) => new Promise((resolve) => waiting.push({ text, resolve })),
  }
}

function sampleConfig(dataDir: string): LoadedConfig {
  return {
    secrets: [],
    config: {
      file: join(dataDir, 'parley.yaml'),
      agents: [],
      models: {},
      channels: {},
      routing: policy(),
      session: { queue: { max: 100, busy: 'queue' } },
      store: { path: join(dataDir, 'parley.db') },
      logging: { level: 'info', pretty: false },
      scriptFolder: dataDir,
      dataDir,
      down: [],
      schedules: [],
      warnings: [],
    },
  }
}

/** Serves an operator where the CLI looks for the daemon. */
export async function serveDaemon({ loaded }: Rig, service: ServedOperator): Promise<void> {
  const served = { ...service, live: fakeLive([], ''), chat: fakeChat([]) }
  const api = await startLocalApi({ socketPath: socketPathOf(loaded.config), service: served, logger: silentLogger })
  onTestFinished(() => api.close())
}

export async function makeStore({ loaded }: Rig): Promise<void> {
  await writeFile(loaded.config.store.path, '')
}

export interface FakeOffline extends FakeOperator {
  close: OfflineOperator['close']
  closed: number
}

export function fakeOffline(overrides: Partial<ApiService> = {}): FakeOffline {
  const offline: FakeOffline = {
    ...fakeOperator(overrides),
    closed: 0,
    async close() {
      offline.closed++
    },
  }
  return offline
}

export interface FakeDaemon extends RunningDaemon {
  stops: number
  reloads: number
  readonly settle: () => void
  /** Ends it without being told to. */
  readonly fall: (error?: Error) => void
}

/** `drained` holds its stop up. */
export function fakeDaemon({ operator = fakeOperator(), drained = Promise.resolve() }: DaemonParts = {}): FakeDaemon {
  const settled = deferred<void>()
  let end: (error?: Error) => void = () => {}
  const stopped = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve())
  })
  const daemon: FakeDaemon = {
    socketPath: 'unused',
    operator,
    stops: 0,
    reloads: 0,
    stopped,
    settled: () => settled.promise,
    settle: () => settled.resolve(),
    fall: (error) => end(error),
    reload() {
      daemon.reloads++
    },
    async stop() {
      daemon.stops++
      await drained
      end()
    },
  }
  return daemon
}

interface DaemonParts {
  readonly operator?: ApiService
  readonly drained?: Promise<void>
}
