import { accessSync, constants, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import type { Machine, Ran } from '../../core/machine.ts'

/** The way by which the running program came onto this machine. */
export type Installation =
  /** By npm, with --global below a prefix, or into a folder of packages. */
  | { readonly kind: 'npm'; readonly program: string; readonly where: readonly string[] }
  /** A folder with the sources, which git and npm keep up to date. */
  | { readonly kind: 'checkout'; readonly program: string }

export function installationOf({ program }: Machine): Installation {
  const packages = dirname(program)
  if (packages.endsWith('/lib/node_modules'))
    return { kind: 'npm', program, where: ['--global', '--prefix', resolve(packages, '../..')] }
  if (packages.endsWith('/node_modules')) return { kind: 'npm', program, where: ['--prefix', dirname(packages)] }
  return { kind: 'checkout', program }
}

/** The packed program in a file. */
export interface PackedProgram {
  readonly file: string
  readonly version: string
}

/**
 * Returns the version of a packed file. Rejects with `invalid` for anything but Parley, and with `config` where its own
 * first lines do not accept this Node.
 */
export async function readPacked(machine: Machine, file: string): Promise<PackedProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-upgrade-'))
  try {
    const unpacked = await machine.run('tar', ['-xzf', file, '-C', folder])
    if (unpacked.code !== 0) throw notPacked(file, unpacked)
    const main = join(folder, 'package/dist/main.js')
    const asked = await machine.run(machine.node, [main, '--version'])
    const version = asked.stdout.trim()
    if (asked.code !== 0) throw new ParleyError('config', asked.stderr.trim().split('\n')[0] || `${file} does not run.`)
    if (!/^\d+\.\d+\.\d+/.test(version)) throw notPacked(file, asked)
    return { file, version }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function notPacked(file: string, { stderr }: Ran): ParleyError {
  const said = stderr.trim().split('\n')[0]
  return new ParleyError('invalid', `${file} is no packed Parley, as "npm pack" writes it${said ? ` (${said})` : ''}.`)
}

/** Returns a number below, at or above 0 as a version is older than, the same as or newer than another. */
export function compareVersions(one: string, other: string): number {
  const [numbers, others] = [one, other].map((version) => version.split(/[-+]/)[0]?.split('.').map(Number) ?? [])
  for (const at of [0, 1, 2]) {
    const difference = (numbers?.[at] ?? 0) - (others?.[at] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(other.includes('-')) - Number(one.includes('-'))
}

/** The first Node for which SQLite comes compiled; below, npm has to run the script that compiles it. */
const COMPILED_FROM = 10

/** Returns the command by which npm installs a packed file in the place of this program. */
export function installCommand({ where }: Extract<Installation, { kind: 'npm' }>, file: string): readonly string[] {
  const scripts = Number(process.versions.napi) < COMPILED_FROM ? [] : ['--ignore-scripts']
  return ['npm', 'install', ...where, ...scripts, '--no-audit', '--no-fund', file]
}

/** Runs npm outside of any folder with settings for it. */
export function runNpm(machine: Machine, [npm = 'npm', ...args]: readonly string[]): Promise<Ran> {
  return machine.run(npm, args, { cwd: tmpdir() })
}

/** Throws `forbidden` where this user cannot replace the program. */
export function checkWritable({ program }: Installation): void {
  try {
    accessSync(dirname(program), constants.W_OK)
  } catch {
    const message = `${dirname(program)} is not yours to write to. Put sudo before it; in a container, build the image anew.`
    throw new ParleyError('forbidden', message)
  }
}

/** Returns the bytes of a file, or of all files in a folder; 0 where there is nothing, or it cannot be read. */
export function sizeOf(path: string): number {
  try {
    const stats = lstatSync(path)
    if (!stats.isDirectory()) return stats.size
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
  } catch {
    return 0
  }
}
