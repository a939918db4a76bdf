import type { ChannelSetup, Examination, ExamineRequest } from '../channels/setup.ts'
import type { Config, ModelServer } from '../config/config.ts'
import type { JsonSchema } from '../config/json-schema.ts'
import type { BackupReport, BackupRequest, RestoreReport, RestoreRequest, VerifyReport } from '../core/backup.ts'
import type { DoctorReport, DoctorRequest } from '../core/finding.ts'
import type { BundleReport, ImportOptions, ImportReport, OldFile } from '../core/import.ts'
import type { DataPlaces, Machine, OwnData, StoreSchema } from '../core/machine.ts'
import type { LoggedIn, LoginTalk, McpCheck } from '../core/mcp.ts'
import type { ModelTrial, ModelTrialOutcome } from '../core/model.ts'
import type { WriteExport } from '../core/operate-archives.ts'
import type { PeopleReport } from '../core/operate-people.ts'
import type { OperatorService } from '../core/operator.ts'
import type { PeerKind, PeerSetup } from '../core/peer-setup.ts'
import type { ConversionReport, ConvertOptions } from '../core/store-conversion.ts'
import type { SupportReport, SupportRequest } from '../core/support.ts'

/** Everything the CLI gets from outside; it reads no environment, no clock and no process by itself. */
export interface CliPorts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Ms since the epoch, for the ages of what is listed. */
  readonly now: () => number
  readonly version: string
  /** The environment variables that are enough to start without a file, a line a platform. */
  readonly variables: readonly string[]
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: Output
  readonly stderr: Output
  /**
   * Reads the configuration at `path`, which is the value of `--config`. With `check` all that it names has to be
   * there. With `ask`, for questions to a daemon or its store, channels and secrets may be missing, as in another
   * shell. With `store` nothing is read of it but where the store lies, and its key. Each of `texts`, which are to be
   * written, counts in place of the file at its path. Throws `config`.
   */
  load(path?: string, use?: ConfigUse, texts?: ReadonlyMap<string, string>): Awaitable<LoadedConfig>
  /**
   * Starts the daemon. Resolves once it accepts requests; its channels may still be connecting. Rejects with `config`
   * or `store_locked`.
   */
  start(loaded: LoadedConfig): Promise<RunningDaemon>
  /** Opens a store that no daemon holds. Rejects with `store_locked` or `store_newer`. */
  openOffline(loaded: LoadedConfig): Promise<OfflineOperator>
  /** Imports old conversations into a store that no daemon holds. Rejects with `store_locked` or `migration_failed`. */
  importSessions(loaded: LoadedConfig, files: readonly OldFile[], options: ImportOptions): Promise<ImportReport>
  /** Imports a session from its file into such a store. Rejects with `invalid` too. */
  importBundle(loaded: LoadedConfig, path: string, dryRun: boolean): Promise<BundleReport>
  readonly writeExport: WriteExport
  /** Encrypts or decrypts a store that no daemon holds. Rejects with `config` without a key that fits. */
  convertStore(loaded: LoadedConfig, options: ConvertOptions): Promise<ConversionReport>
  /** Looks at everything that a daemon needs. Rejects with `invalid` for a part that there is not. */
  examine(request: DoctorRequest<Config>): Promise<DoctorReport>
  /** Returns the facts for a report, from whatever can be read; nothing is asked over the network. */
  support(request: SupportRequest<Config>): Promise<SupportReport>
  /** Returns the schema of the store, which a daemon may hold; undefined where there is none yet. */
  storeSchema(loaded: LoadedConfig): Promise<StoreSchema | undefined>
  /** Returns the files that Parley has written in these places, and whatever else lies there; removes nothing. */
  ownData(places: DataPlaces, loaded?: LoadedConfig): Promise<OwnData>
  /** Removes these files. Rejects with `store_locked` where a daemon has the store, and with `forbidden`. */
  removeData(places: DataPlaces, loaded?: LoadedConfig): Promise<void>
  /** Returns what an operator does with tool servers. */
  mcp(): Promise<McpOperator>
  /** Returns the machine, for the commands that install, update and remove the program. */
  machine(): Promise<Machine>
  /** Returns what the guided start needs from outside. Rejects with `no_driver` where SQLite does not load. */
  setup(): Promise<SetupPorts>
  /** Returns what an operator does with copies of the store. */
  backups(): Promise<BackupOperator>
  /** Runs the demo; resolves with the exit code. */
  runDemo(options: { readonly once: boolean }): Promise<number>
  /** Returns the JSON schema of the configuration file. */
  configSchema(): Awaitable<JsonSchema>
  /** Checks mistakes that only appear when the rules are compiled. Returns warnings; throws `config`. */
  compile(config: Config): Awaitable<readonly string[]>
  /** Returns the meaning of the configuration, line by line, with what the store knows of people; absent: no store. */
  explain(config: Config, known?: PeopleReport): Awaitable<readonly string[]>
  /** Calls `handler` at each SIGINT or SIGTERM, or as the terminal is closed, until the returned function is called. */
  onSignal(handler: (signal: string) => void): () => void
  /** Calls `handler` at each SIGHUP that asks for a reload until the returned function is called. */
  onHangup(handler: () => void): () => void
}

/** The work of an operator on configured tool servers. All of it rejects with `not_found` for an unknown one. */
export interface McpOperator {
  /** Asks a server for its tools. Rejects with `unavailable`. */
  test(config: Config, server: string): Promise<McpCheck>
  /** Ends the programs that a test has started, for one that is interrupted. */
  endPrograms(): Promise<void>
  /** Logs in at a server; resolves with what was granted. Rejects in words for the operator. */
  login(config: Config, server: string, talk: LoginTalk): Promise<LoggedIn>
  /** Forgets a login; `revoked`: its server has taken the tokens back. */
  logout(config: Config, server: string): Promise<'revoked' | 'forgotten' | 'none'>
}

/** The powers of the guided start. */
export interface SetupPorts {
  /** The platforms, in their order. */
  readonly platforms: readonly SetupPlatform[]
  /** Returns the file that is written, and the folder of the data without a setting. Throws `config` for no folder. */
  placeOf(path?: string): ConfigPlace
  /** Asks a model one question. Never throws. */
  tryModel(models: Readonly<Record<string, ModelServer>>, id: string, trial: ModelTrial): Promise<ModelTrialOutcome>
  /** Reads the folder of another program, by default its usual one. Throws `invalid`. */
  readPeer(kind: PeerKind, folder?: string): Promise<PeerSetup>
  /** Starts the daemon of a configuration as a process of its own. */
  startDaemon(file: string): SetupDaemon
}

export interface SetupPlatform extends Omit<ChannelSetup<unknown>, 'examine'> {
  readonly id: string
  /**
   * Asks the platform about an account of these settings, which may lack defaults. Never throws: settings that are none
   * are a finding too.
   */
  examine(account: string, settings: unknown, request: Pick<ExamineRequest, 'beside' | 'signal'>): Promise<Examination>
}

export interface ConfigPlace {
  readonly file: string
  readonly dataDir: string
}

export interface SetupDaemon {
  /** Resolves with its exit code and the end of its output when the process has ended, for any reason. */
  readonly ended: Promise<{ readonly code: number; readonly output: string }>
  /** Passes on whatever it prints from now on; with `pretty` its log in lines for people. */
  show(write: (text: string) => void, pretty: boolean): void
  /** Drains and ends it; ends it at once when called again. */
  interrupt(this: void): void
  /** Drains and ends it, and waits for that. Idempotent. */
  stop(): Promise<void>
}

/** The work of an operator on copies of the store. */
export interface BackupOperator {
  /** Makes a copy. Rejects with `not_found` where there is no store, `store_broken` for a full disk. */
  take(subject: BackupSubject, request: BackupRequest): Promise<BackupReport>
  /** Checks a copy, absent: the newest. Rejects with `unreadable` for one that is not whole. */
  verify(
    subject: BackupSubject,
    copy: string | undefined,
    request: Pick<BackupRequest, 'progress'>,
  ): Promise<VerifyReport>
  /** Puts a copy in the place of the store. Rejects with `store_locked`, `store_newer`, `unreadable` and `config`. */
  restore(subject: BackupSubject, request: RestoreRequest): Promise<RestoreReport>
  /** Returns the configuration file in a copy. */
  configIn(copy: string): Promise<string | undefined>
}

export interface BackupSubject extends Pick<LoadedConfig, 'config' | 'secrets'> {
  readonly env: CliPorts['env']
}

/** A port may load its code first. */
export type Awaitable<Value> = Value | Promise<Value>

export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface LoadedConfig {
  readonly config: Config
  /** The values to redact from every log line. */
  readonly secrets: readonly string[]
  /** Returns the line of the file to which a warning belongs; absent where there is no file. */
  lineOf?(this: void, warning: string): number | undefined
}

export interface RunningDaemon {
  readonly socketPath: string
  readonly operator: OperatorService
  /** Resolves when every channel is up or has failed once. */
  settled(): Promise<void>
  /** Drains and releases everything. Idempotent. */
  stop(): Promise<void>
  /** Reads the configuration again; a failure is logged. */
  reload(): void
  /** Resolves when the daemon has stopped, for any reason; rejects if it failed. */
  readonly stopped: Promise<void>
}

export interface OfflineOperator extends OperatorService {
  close(): Promise<void>
}

type ConfigUse = 'run' | 'check' | 'ask' | 'store'
