import type { Config } from '../config/config.ts'
import type { JsonSchema } from '../config/json-schema.ts'
import type { ImportReport, OldFile } from '../core/import.ts'
import type { OperatorService } from '../core/operator.ts'

/** All the CLI gets from outside; it reads no environment, no clock and no process by itself. */
export interface CliPorts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly version: string
  /** The environment variables that are enough to start without a file, a line a platform. */
  readonly variables: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
  /**
   * Reads the configuration; `path` is what `--config` said. To `ask` a daemon or its store, neither a channel nor a
   * secret needs to be there: another shell may have none of them. Throws `config`.
   */
  load(path?: string, use?: 'run' | 'ask'): Awaitable<LoadedConfig>
  /** Resolves once the daemon takes requests; its channels may still be coming up. Rejects with `config` or `store_locked`. */
  start(loaded: LoadedConfig): Promise<RunningDaemon>
  /** The answers of a store that no daemon holds. Rejects with `store_locked` or `store_newer`. */
  openOffline(loaded: LoadedConfig): Promise<OfflineOperator>
  /** Takes old conversations into a store that no daemon holds. Rejects with `store_locked` or `migration_failed`. */
  importSessions(loaded: LoadedConfig, files: readonly OldFile[]): Promise<ImportReport>
  /** Resolves with the exit code. */
  runDemo(options: { readonly once: boolean }): Promise<number>
  /** The JSON schema of the configuration file. */
  configSchema(): Awaitable<JsonSchema>
  /** Checks what only shows when the rules are compiled. Returns warnings; throws `config`. */
  compile(config: Config): Awaitable<readonly string[]>
  /** What the configuration means, line by line. */
  explain(config: Config): Awaitable<readonly string[]>
  /** Calls `handler` at each SIGINT or SIGTERM until the returned function is called. */
  onSignal(handler: (signal: string) => void): () => void
}

/** A port may load what it needs first. */
export type Awaitable<Value> = Value | Promise<Value>

export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns?: number
}

export interface LoadedConfig {
  readonly config: Config
  /** Values to keep out of every log line. */
  readonly secrets: readonly string[]
}

export interface RunningDaemon {
  readonly socketPath: string
  readonly operator: OperatorService
  /** Resolves when every channel is up or has failed once. */
  settled(): Promise<void>
  /** Drains and lets go of everything. Idempotent. */
  stop(): Promise<void>
  /** Resolves when it has stopped, for whatever reason; rejects if it fell. */
  readonly stopped: Promise<void>
}

export interface OfflineOperator extends OperatorService {
  close(): Promise<void>
}
