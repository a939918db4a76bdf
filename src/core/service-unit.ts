import { EXIT } from './errors.ts'
import { type Machine, NO_COMMAND, type Ran } from './machine.ts'

export const UNIT = 'parley.service'

/** The unit of the daemon, as systemd shows it. */
export interface ShownUnit {
  /** False where no such unit is installed. */
  readonly loaded: boolean
  /** True while the daemon runs and is ready. */
  readonly active: boolean
  /** The words of systemd, such as `active (running)`. */
  readonly state: string
  readonly starting: boolean
  /** True if the unit is started with the machine or the user. */
  readonly enabled: boolean
  readonly restarts: number
  /** The time since which the daemon runs; absent if it does not. */
  readonly since?: number
  /** The exit code of its last end, where it has one; and in words, when that was no ordinary end. */
  readonly exitCode?: number
  readonly lastExit?: string
  /** The configuration that its command names. */
  readonly config?: string
  /** The files that its command starts: Node and the program. */
  readonly programs: readonly string[]
}

const PROPERTIES = [
  ...['LoadState', 'ActiveState', 'SubState', 'UnitFileState', 'NRestarts', 'ActiveEnterTimestamp', 'ExecStart'],
  ...['Result', 'ExecMainCode', 'ExecMainStatus'],
]

/** Returns the command for the unit in whose control group a process is; undefined where it is in none. */
export function systemctlOf(group: string): string | undefined {
  if (!group.includes(`/${UNIT}`)) return undefined
  return group.includes('/user.slice/') ? 'systemctl --user' : 'sudo systemctl'
}

/** Asks systemd for the unit, with `--user` for that of a user; resolves with the end of the command if it failed. */
export async function showUnit(
  run: Machine['run'],
  which: readonly string[],
): Promise<{ readonly unit: ShownUnit } | { readonly refused: Ran }> {
  const asked = await run('systemctl', [...which, 'show', UNIT, `--property=${PROPERTIES.join(',')}`])
  return asked.code === 0 ? { unit: readUnit(asked.stdout) } : { refused: asked }
}

/** Returns whether the services of a user run without a login; undefined where nobody can say. */
export async function lingersFor(run: Machine['run'], user: string): Promise<boolean | undefined> {
  const { code, stdout } = await run('loginctl', ['show-user', user, '--property=Linger'])
  // An account that is neither logged in nor lingering is an error of the tool.
  return code === NO_COMMAND ? undefined : code === 0 && stdout.trim() === 'Linger=yes'
}

type Properties = Readonly<Record<string, string | undefined>>

function readUnit(text: string): ShownUnit {
  const found: Properties = Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))
  const { LoadState, ActiveState = 'unknown', SubState = '', UnitFileState = '', NRestarts = '0' } = found
  const since = Date.parse((found.ActiveEnterTimestamp ?? '').replace(/^\w+ /, ''))
  const config = / --config[ =](.+?)(?: ; |$)/.exec(found.ExecStart ?? '')?.[1]
  const programs =
    /path=(.+?) ; argv\[\]=.+?(?: "?(\/.+?\.js)"?)?(?: start| ;)/.exec(found.ExecStart ?? '')?.slice(1) ?? []
  const exitCode = found.ExecMainCode === EXITED ? Number(found.ExecMainStatus) : undefined
  const lastExit = lastExitOf(found, exitCode)
  return {
    ...{ loaded: LoadState === 'loaded', active: ActiveState === 'active', starting: ActiveState === 'activating' },
    state: SubState ? `${ActiveState} (${SubState})` : ActiveState,
    enabled: ['enabled', 'enabled-runtime', 'static', 'alias', 'linked'].includes(UnitFileState),
    restarts: Number(NRestarts),
    programs: programs.filter(Boolean),
    ...(Number.isNaN(since) ? {} : { since }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(lastExit === undefined ? {} : { lastExit }),
    ...(config === undefined ? {} : { config }),
  }
}

/** CLD_EXITED of waitid(2); every other code is a signal. */
const EXITED = '1'

function lastExitOf({ Result, ExecMainCode, ExecMainStatus }: Properties, exitCode = 0): string | undefined {
  if (Result === 'watchdog') return 'it gave no sign of life for a minute and was ended'
  if (Result === 'oom-kill') return 'it took more memory than the unit allows (MemoryMax)'
  if (exitCode !== 0) return exitMeaning(exitCode)
  if (ExecMainCode === '2' || ExecMainCode === '3') return `ended by signal ${ExecMainStatus}`
  return Result === 'success' ? undefined : Result || undefined
}

/** The exit code of systemd for a program that it could not start. */
export const NO_PROGRAM = 203

/** The exit codes of the program, and those of systemd for a program that it could not start (systemd.exec(5)). */
const MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.failed]: 'it failed; the log says why',
  [EXIT.migration]: 'a migration failed and changed nothing',
  [EXIT.disk]: 'a disk is full or does not take writes',
  [EXIT.locked]: 'another daemon holds the store',
  [EXIT.config]: 'the configuration or the installation is wrong; the log says where',
  [NO_PROGRAM]: 'Node or the program is no longer where the unit says',
  217: 'its account cannot be made; in a container that has no user namespaces: systemctl edit parley, PrivateUsers=no',
  218: 'the unit asks for capabilities that this service manager cannot give',
  226: 'the unit asks for a file system of its own, which is not possible here',
  243: 'a file of LoadCredential is missing or cannot be read',
}

/** Returns the command that writes the unit anew, with Node and the program where they are now. */
export function installAnew(scope: 'system' | 'user'): string {
  return `${scope === 'system' ? 'sudo ' : ''}parley service install --${scope}`
}

export function exitMeaning(code: number): string {
  return `${code}: ${MEANINGS[code] ?? 'the log says more'}`
}
