import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import { nearMatch } from '../core/near-match.ts'

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The user's home folder, for when HOME is not set. */
  readonly home?: string
  /** Only for root: the places of the service of the machine. */
  readonly service?: ServicePlaces
}

export interface ServicePlaces {
  readonly config: string
  readonly data: string
}

/** The places that `parley service install --system` gives to the service (`systemd/parley.service`). */
export const SERVICE_PLACES: ServicePlaces = { config: '/etc/parley/parley.yaml', data: '/var/lib/parley' }

/** Returns what this process was started with; only root can read what belongs to the service of the machine. */
export function surroundingsOf({ env, geteuid }: typeof process, home: string | undefined): Surroundings {
  const service = geteuid?.() === 0 ? { service: SERVICE_PLACES } : {}
  return { env, cwd: process.cwd(), ...(home ? { home } : {}), ...service }
}

/** The file to read: asked for by path or PARLEY_CONFIG, else the usual one if it exists, else that of the service. */
export function findConfigFile(path: string | undefined, around: Surroundings): string | undefined {
  const asked = path ?? (around.env.PARLEY_CONFIG || undefined)
  if (asked !== undefined) return resolve(around.cwd, asked)
  return [usualConfigFile(around), around.service?.config].find((file) => file !== undefined && existsSync(file))
}

/**
 * Returns the environment in which a configuration is read, and whether root reads that of the service: that one has
 * the folders of the service, which systemd gives to the daemon alone.
 */
export function environmentFor(
  file: string | undefined,
  { env, service }: Surroundings,
): { readonly env: Surroundings['env']; readonly ofService?: true } {
  if (service === undefined || file !== service.config || env.STATE_DIRECTORY || !existsSync(service.data))
    return { env }
  return { env: { CREDENTIALS_DIRECTORY: dirname(file), ...env, STATE_DIRECTORY: service.data }, ofService: true }
}

/** `$XDG_CONFIG_HOME/parley/parley.yaml`, by default under `~/.config`; absent for a user without a home. */
export function usualConfigFile({ env, home }: Surroundings): string | undefined {
  const folder = xdgFolder(env.XDG_CONFIG_HOME, '.config', env.HOME || home)
  return folder && join(folder, 'parley', 'parley.yaml')
}

/** Names of a configuration as other programs have them, and as editors of Windows save one. */
const LIKE_OURS = /^(?:parley|config|settings)\.(?:ya?ml|json)(?:\.txt)?$|^parley(?:\.txt)?$/i

/** Returns the files beside one that is not there that were probably meant to be it. */
export function misnamedBeside(file: string): readonly string[] {
  const names = namesIn(dirname(file))
  const near = nearMatch(basename(file), names)
  const alike = names.filter((name) => LIKE_OURS.test(name) || name === near)
  return alike.map((name) => join(dirname(file), name))
}

/** Returns a warning for each configuration in the working folder, which is not looked through for one. */
export function unreadHere({ cwd, ...surroundings }: Surroundings): readonly string[] {
  const usual = usualConfigFile({ cwd, ...surroundings })
  const move = usual === undefined ? '' : `, or move it to ${usual}`
  return namesIn(cwd)
    .filter((name) => /^parley\.(?:ya?ml|json)(?:\.txt)?$/i.test(name))
    .map((name) => `./${name} is not read: start with --config ${name}${move}`)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The database file of `sqlite:<file>`: relative ones lie in systemd's state folder, or `$XDG_STATE_HOME/parley`. */
export function databaseFile(url: string, { env, home }: Surroundings): string {
  const file = url.replace(/^sqlite:/, '')
  if (isAbsolute(file)) return file
  // systemd separates several state folders by colons; the first is ours.
  const service = env.STATE_DIRECTORY?.split(':')[0]
  if (service) return resolve(service, file)
  const folder = xdgFolder(env.XDG_STATE_HOME, join('.local', 'state'), env.HOME || home)
  if (folder) return resolve(folder, 'parley', file)
  throw new ParleyError(
    'config',
    'store.url: there is no folder for the data; set XDG_STATE_HOME or HOME, or write sqlite:/<absolute file>',
  )
}

/** A relative XDG folder is to be ignored (XDG base directory specification). */
function xdgFolder(set: string | undefined, usual: string, home: string | undefined): string | undefined {
  if (set && isAbsolute(set)) return set
  return home ? join(home, usual) : undefined
}
