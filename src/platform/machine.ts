import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Machine, NO_COMMAND, type Ran, type RunOptions } from '../core/machine.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The most that a command may write. */
const MOST_BYTES = 16 * 1024 * 1024

/** Returns this machine; `main` is the file with which the program was started. */
export function thisMachine(env: Environment, main: string): Machine {
  const { username: name, uid, homedir: home } = thisUser()
  return {
    platform: process.platform,
    node: lastingNode(env),
    program: fileURLToPath(new URL('..', main)).replace(/\/$/, ''),
    user: { name, uid, home: env.HOME || home },
    run: (command, args, options = {}) => runCommand(command, args, { ...options, env }),
  }
}

/** A container may run under a bare number, for which the system has no entry. */
export function thisUser(): { readonly username: string; readonly uid: number; readonly homedir: string } {
  try {
    return userInfo()
  } catch {
    const uid = process.getuid?.() ?? 0
    return { username: String(uid), uid, homedir: '/' }
  }
}

/** Folders that end with a session of a shell, as fnm makes one for each. */
const PASSING = /^(?:\/run\/|\/tmp\/|.*\/fnm_multishells\/)/

/** Returns the link by which PATH finds this Node: the file itself often lies in a folder of its exact version. */
function lastingNode({ PATH = '' }: Environment): string {
  const self = realpathSync(process.execPath)
  const candidates = PATH.split(delimiter).map((folder) => join(folder, 'node'))
  return candidates.find((path) => path.startsWith('/') && !PASSING.test(path) && leadsTo(path, self)) ?? self
}

function leadsTo(path: string, file: string): boolean {
  try {
    return realpathSync(path) === file
  } catch {
    return false
  }
}

/** A shell of `su` or `sudo` has no variable for the user's service manager, which may run all the same. */
function userBus({ XDG_RUNTIME_DIR }: Environment, uid: number): Record<string, string> {
  const folder = `/run/user/${uid}`
  return !XDG_RUNTIME_DIR && existsSync(folder) ? { XDG_RUNTIME_DIR: folder } : {}
}

interface Running extends RunOptions {
  readonly env?: Environment
}

/** Runs a command to its end, as `Machine.run` does; without `env` it has the variables of this process as they are. */
export function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env, withinMs = 0 }: Running,
): Promise<Ran> {
  const options = {
    ...({ encoding: 'utf8', maxBuffer: MOST_BYTES, timeout: withinMs, killSignal: 'SIGKILL', cwd } as const),
    ...(env === undefined ? {} : { env: forCommands(env) }),
  }
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : NO_COMMAND
      resolve({ code, stdout, stderr: stderr || (error?.message ?? '') })
    })
  })
}

/** The folder of this Node comes last in the path: npm lies there. */
function forCommands(env: Environment): Environment {
  const path = `${env.PATH ?? ''}${delimiter}${dirname(lastingNode(env))}`
  return { ...env, PATH: path, ...userBus(env, thisUser().uid), LC_ALL: 'C' }
}
