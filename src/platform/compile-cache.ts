import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { privateFolder } from './private-folder.ts'

interface CachePlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string | undefined
}

/** Node 22 added it; without a folder it uses one that all users of a machine share. */
const enableCompileCache =
  'enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function'
    ? (nodeModule.enableCompileCache as (folder: string) => unknown)
    : undefined

/**
 * Keeps the compiled code for a faster next start, in a folder that nobody but this user and root can write to: Node
 * runs what it finds there. Without such a folder nothing is kept.
 */
export function useCompileCache(places: CachePlaces, enable = enableCompileCache): void {
  const folder = cacheFolder(places)
  if (enable === undefined || folder === undefined) return
  try {
    enable(privateFolder(folder, 'code').path)
  } catch {
    // The start takes longer, and nothing else happens.
  }
}

/** Returns the folder systemd gives the service, else that of the user. */
function cacheFolder({ env, home }: CachePlaces): string | undefined {
  const service = env.CACHE_DIRECTORY?.split(':')[0]
  if (service) return join(service, 'compiled')
  const set = env.XDG_CACHE_HOME
  const caches = set && isAbsolute(set) ? set : (env.HOME || home) && join(env.HOME || home || '', '.cache')
  return caches ? join(caches, 'parley', 'compiled') : undefined
}

/**
 * Returns the home folder; undefined for a user without a password entry, as in a container that runs under a bare
 * number.
 */
export function userHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
