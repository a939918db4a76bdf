import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ParleyError } from '../../core/errors.ts'
import { type Machine, NO_COMMAND, type Ran } from '../../core/machine.ts'
import { exitMeaning, installAnew, lingersFor, NO_PROGRAM, showUnit, UNIT } from '../../core/service-unit.ts'
import { isGone } from '../../platform/private-folder.ts'
import { commandIn, isOurs, LABEL, plistText, type ServiceScope, type UnitFacts, unitText } from './unit-file.ts'

/** A command for the service manager, and whether the rest depends on it. */
export interface ServiceStep {
  readonly command: readonly [program: string, ...args: string[]]
  /** `retry`: it fails for a moment while the service that it replaces still ends. */
  readonly may?: 'fail' | 'retry'
}

export interface ServiceState {
  readonly scope: ServiceScope
  readonly file: string
  /** `foreign`: somebody else wrote or changed the file; `none`: there is no service. */
  readonly unit: 'ours' | 'foreign' | 'none'
  readonly active: boolean
  /** The word of the service manager, such as `active (running)`. */
  readonly state: string
  readonly enabled: boolean
  readonly restarts?: number
  /** The last end of the program in words, when it was no ordinary one. */
  readonly lastExit?: string
  /** The configuration that the file names. */
  readonly config?: string
  /** The files of the program that the service starts, where they are gone. */
  readonly gone?: readonly string[]
  /** The command that mends it, where Node or the program lies elsewhere by now. */
  readonly remedy?: string
  /** True if services of the user run without a login; absent for a service of the system. */
  readonly lingers?: boolean
}

/** A service manager and its one service: `systemd` of the system or of a user, or `launchd`. */
export interface ServiceManager {
  readonly scope: ServiceScope
  readonly file: string
  text(shipped: string, facts: UnitFacts): string
  /** Starts the service, and after a change anew; with systemd the last step ends once the daemon is ready. */
  startSteps(running: boolean): readonly ServiceStep[]
  stopSteps(): readonly ServiceStep[]
  /** Called when the file is gone. */
  forgetSteps(): readonly ServiceStep[]
  restartStep(): ServiceStep
  /** Rejects with `config` when there is no such service manager, or it cannot be reached. */
  state(): Promise<ServiceState>
  /** A command that shows the log. */
  readonly log: string
}

export function managerOf(
  machine: Machine,
  scope: ServiceScope,
  env: Readonly<Record<string, string | undefined>>,
): ServiceManager {
  if (machine.platform === 'linux') return systemd(machine, scope, env)
  if (machine.platform === 'darwin' && scope === 'user') return launchd(machine)
  const instead =
    machine.platform === 'darwin'
      ? 'On macOS the service is one of a user: parley service install --user'
      : 'Have your service manager run "parley start" and end it with SIGTERM.'
  throw new ParleyError('config', `There is no such service on ${machine.platform}. ${instead}`)
}

const MOST_TRIES = 20
const RETRY_MS = 500

/** Runs one step after another. Rejects with `unavailable` and what the command said. */
export async function runSteps(machine: Machine, steps: readonly ServiceStep[]): Promise<void> {
  for (const { command, may } of steps) {
    const [program, ...args] = command
    let ran = await machine.run(program, args)
    for (let tries = 1; ran.code !== 0 && may === 'retry' && tries < MOST_TRIES; tries++) {
      await setTimeout(RETRY_MS)
      ran = await machine.run(program, args)
    }
    if (ran.code !== 0 && may !== 'fail')
      throw new ParleyError('unavailable', `${command.join(' ')} failed: ${firstLines(ran.stderr)}`)
  }
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 4).join('\n')
}

function systemd(
  machine: Machine,
  scope: ServiceScope,
  env: Readonly<Record<string, string | undefined>>,
): ServiceManager {
  const { home } = machine.user
  const folder =
    scope === 'user' ? join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd/user') : '/etc/systemd/system'
  const file = join(folder, UNIT)
  const mine = scope === 'user' ? ['--user'] : []
  const systemctl = (...args: string[]): ServiceStep => ({ command: ['systemctl', ...mine, ...args] })
  return {
    ...{ scope, file, text: unitText },
    log: scope === 'user' ? 'journalctl --user -u parley -n 20' : 'journalctl -u parley -n 20',
    startSteps: (running) => [
      systemctl('daemon-reload'),
      ...(running ? [systemctl('enable', UNIT), systemctl('restart', UNIT)] : [systemctl('enable', '--now', UNIT)]),
    ],
    stopSteps: () => [systemctl('disable', '--now', UNIT)],
    forgetSteps: () => [systemctl('daemon-reload'), { ...systemctl('reset-failed', UNIT), may: 'fail' }],
    restartStep: () => systemctl('restart', UNIT),
    async state() {
      const shown = await showUnit(machine.run, mine)
      if ('refused' in shown) throw unreachable(shown.refused, scope, machine.user.name)
      const { active, state, enabled, restarts, lastExit, exitCode, programs } = shown.unit
      return {
        ...{ scope, file, unit: unitAt(file), active, state, enabled, restarts },
        ...commandFacts(file, scope, { programs, exitCode }),
        ...(lastExit === undefined ? {} : { lastExit }),
        ...(scope === 'user' ? { lingers: (await lingersFor(machine.run, machine.user.name)) === true } : {}),
      }
    },
  }
}

/** Returns the sentence for a service manager that is not there, or that this shell does not reach. */
function unreachable({ code, stderr }: Ran, scope: ServiceScope, user: string): ParleyError {
  const said = stderr.trim().split('\n')[0] ?? ''
  if (code === NO_COMMAND)
    return new ParleyError(
      'config',
      'There is no systemctl here. "parley service install --dry-run" prints the unit;\n' +
        'another service manager runs "parley start".',
    )
  const remedy =
    scope === 'user'
      ? `Run: sudo loginctl enable-linger ${user}\nthen: export XDG_RUNTIME_DIR=/run/user/$(id -u)`
      : 'A container runs "parley start" itself.'
  return new ParleyError('config', `The service manager cannot be reached:\n${said}\n${remedy}`)
}

/** Returns whose the file of a service is. */
export function unitAt(file: string): ServiceState['unit'] {
  if (!existsSync(file)) return 'none'
  return isOurs(readFileSync(file, 'utf8')) ? 'ours' : 'foreign'
}

interface Started {
  /** The files that the service starts; absent: those that its own file names. */
  readonly programs?: readonly string[]
  readonly exitCode?: number | undefined
}

function commandFacts(file: string, scope: ServiceScope, { programs, exitCode }: Started = {}) {
  const config = configAt(file)
  const gone = (programs ?? commandAt(file).slice(0, 2)).filter(isGone)
  return {
    ...(config === undefined ? {} : { config }),
    ...(gone.length === 0 ? {} : { gone }),
    ...(gone.length > 0 || exitCode === NO_PROGRAM ? { remedy: installAnew(scope) } : {}),
  }
}

function commandAt(file: string): readonly string[] {
  return existsSync(file) ? commandIn(readFileSync(file, 'utf8')) : []
}

/** Returns the configuration that the file of a service names. */
export function configAt(file: string): string | undefined {
  const words = commandAt(file)
  const at = words.indexOf('--config')
  return at < 0 ? undefined : words[at + 1]
}

function launchd(machine: Machine): ServiceManager {
  const { uid, home } = machine.user
  const [domain, target] = [`gui/${uid}`, `gui/${uid}/${LABEL}`]
  const file = join(home, 'Library/LaunchAgents', `${LABEL}.plist`)
  const log = join(home, 'Library/Logs', 'parley.log')
  const launchctl = (...args: string[]): ServiceStep => ({ command: ['launchctl', ...args] })
  return {
    ...{ scope: 'user', file, log: `tail -n 20 ${log}` },
    text: (_shipped, facts) => plistText(facts, log),
    // A service that was booted out stays disabled, and a bootstrap of it fails with "5: Input/output error".
    startSteps: (running) => [
      ...(running ? [{ ...launchctl('bootout', target), may: 'fail' } as const] : []),
      launchctl('enable', target),
      { ...launchctl('bootstrap', domain, file), may: 'retry' },
    ],
    stopSteps: () => [{ ...launchctl('bootout', target), may: 'fail' }],
    forgetSteps: () => [],
    restartStep: () => launchctl('kickstart', '-k', target),
    async state() {
      const { code, stdout } = await machine.run('launchctl', ['print', target])
      if (code === NO_COMMAND) throw new ParleyError('config', 'There is no launchctl here.')
      const lastCode = Number(/last exit code = (\d+)/.exec(stdout)?.[1] ?? 0)
      const state = code === 0 ? (/^\s*state = (.+)$/m.exec(stdout)?.[1] ?? 'unknown') : 'not loaded'
      const restarts = /^\s*runs = (\d+)$/m.exec(stdout)?.[1]
      return {
        ...{ scope: 'user', file, unit: unitAt(file), state, active: state === 'running', enabled: code === 0 },
        ...commandFacts(file, 'user'),
        ...(restarts === undefined ? {} : { restarts: Math.max(0, Number(restarts) - 1) }),
        ...(lastCode === 0 ? {} : { lastExit: exitMeaning(lastCode) }),
      }
    },
  }
}
