import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import { type Machine, type Ran, shellWord } from '../../core/machine.ts'
import { readJson } from '../../core/read-json.ts'
import { inWords, writersOf } from '../../platform/private-folder.ts'
import { oneLine } from '../print/plain.ts'

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

/** Returns the words that start this program in a shell that finds no `parley`; undefined where it finds one. */
export function typedAs(
  machine: Machine,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): string | undefined {
  const { kind, program } = installationOf(machine)
  // npm adds such folders for what it runs itself.
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => !folder.endsWith('/node_modules/.bin'))
  if (folders.some((folder) => existsSync(join(folder, 'parley')))) return undefined
  if (kind === 'npm') return shellWord(join(dirname(program), '.bin/parley'))
  return cwd === program ? 'npm run parley --' : `node ${shellWord(join(program, 'dist/main.js'))}`
}

/** The packed program in a file, by what its package.json says. */
export interface PackedProgram {
  readonly file: string
  readonly version: string
  /** The version of the schema that it makes of a database; absent in a package that does not say it. */
  readonly schema?: number
}

/** A package has some hundred files, and its package.json some kilobytes. */
const MOST_LISTED = 1_000_000
const PACKAGE_BOUNDS = { bytes: 100_000, values: 2_000 }
const TAR_MS = 60_000

/**
 * Returns what a packed file says of itself; nothing of it is run or written. Rejects with `invalid` for anything but
 * Parley, with `forbidden` where somebody else could have changed it, and with `config` where it does not run on this
 * Node.
 */
export async function readPacked(machine: Machine, file: string): Promise<PackedProgram> {
  checkOwn(machine, file)
  const listed = await runTar(machine, ['-tzf', file], MOST_LISTED)
  // npm leaves out the first folder whatever its name is, so that another one could bring a second package.json.
  const names = listed.split('\n').filter((name) => name !== '')
  if (names.some((name) => !ENTRY.test(name)) || names.filter((name) => name === PACKAGE).length !== 1)
    throw notPacked(file)
  const { name, version, engines, parley } = packageIn(
    await runTar(machine, ['-xzOf', file, PACKAGE], PACKAGE_BOUNDS.bytes),
  )
  if (name !== 'parley' || typeof version !== 'string' || !SEMVER.test(version)) throw notPacked(file)
  const range = Object(engines).node
  if (typeof range !== 'string' || !RANGE.test(range)) throw notPacked(file)
  if (!isInRange(process.versions.node, range))
    throw new ParleyError('config', `Parley ${version} needs Node ${range}; this is Node ${process.versions.node}.`)
  const { schema } = Object(parley)
  return { file, version, ...(Number.isSafeInteger(schema) ? { schema } : {}) }
}

const PACKAGE = 'package/package.json'
const ENTRY = /^package(?:\/(?!\.{0,2}(?:\/|$))[\w.@+ -]+)+\/?$/
const SEMVER = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\dA-Za-z-]{1,40}(?:\.[\dA-Za-z-]{1,40}){0,8})?$/
const RANGE = /^(?:\^|>=)\d+(?:\.\d+){0,2}(?: \|\| (?:\^|>=)\d+(?:\.\d+){0,2})*$/

/** Whoever can change the file has this user, often root, run what they like. */
function checkOwn({ user }: Machine, file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new ParleyError('invalid', `${oneLine(file)}: there is no such file.`)
  if (!stats.isFile()) throw notPacked(file)
  const [writer] = writersOf(file)
  if (writer !== undefined) throw new ParleyError('forbidden', oneLine(inWords(writer)))
  if (stats.uid !== user.uid && stats.uid !== 0)
    throw new ParleyError(
      'forbidden',
      `${oneLine(file)} belongs to user ${stats.uid}, who could change it.\nLook at where it is from, then run: sudo chown ${user.uid} ${oneLine(shellWord(file))}`,
    )
}

async function runTar(
  machine: Machine,
  [how = '', file = '', ...names]: readonly string[],
  most: number,
): Promise<string> {
  const { code, stdout, stderr } = await machine.run('tar', [how, file, ...names], { withinMs: TAR_MS })
  if (code !== 0 || stdout.length > most) throw notPacked(file, stderr)
  return stdout
}

function packageIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(readJson(text, PACKAGE_BOUNDS))
  } catch {
    return {}
  }
}

function notPacked(file: string, stderr = ''): ParleyError {
  const said = oneLine(stderr.trim().split('\n')[0] ?? '')
  const why = said ? ` (${said})` : ''
  return new ParleyError('invalid', `${oneLine(file)}\nis no packed Parley, as "npm pack" writes it${why}.`)
}

/** Judges the ranges that `engines` of Parley may have: from a version on, or from one on to the next major one. */
function isInRange(version: string, range: string): boolean {
  return range.split(' || ').some((part) => {
    const from = part.replace(/^\D+/, '')
    const isSame = version.split('.')[0] === from.split('.')[0]
    return compareVersions(version, from) >= 0 && (isSame || part.startsWith('>='))
  })
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

/** Returns true where npm has to run the scripts of the packages that it installs. */
export function needsScripts(): boolean {
  return Number(process.versions.napi) < COMPILED_FROM
}

/** Returns the command by which npm installs a packed file in the place of this program. */
export function installCommand({ where }: Extract<Installation, { kind: 'npm' }>, file: string): readonly string[] {
  const scripts = needsScripts() ? [] : ['--ignore-scripts']
  return ['npm', 'install', ...where, ...scripts, '--no-audit', '--no-fund', file]
}

/** To compile SQLite takes minutes, on a small machine many. */
const NPM_MS = 30 * 60_000

/** Runs npm outside of any folder with settings for it. */
export function runNpm(machine: Machine, [npm = 'npm', ...args]: readonly string[]): Promise<Ran> {
  return machine.run(npm, args, { cwd: tmpdir(), withinMs: NPM_MS })
}

/** Returns the folder of the programs that were replaced: one of whoever installs, never of the service's user. */
export function oldPrograms({ user }: Machine): string {
  return join(user.home, '.local/share/parley')
}

/** Returns whether this user can replace the program. */
export function isWritable({ program }: Installation): boolean {
  try {
    accessSync(dirname(program), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Throws `forbidden` where this user cannot replace the program. */
export function checkWritable(place: Installation): void {
  if (!isWritable(place)) {
    const message = `${dirname(place.program)} is not yours to write to.\nPut sudo before it; in a container, build the image anew.`
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
