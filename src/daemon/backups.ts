import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { copiesIn } from '../backup/copies.ts'
import { forgetAgain } from '../backup/forget-again.ts'
import { parseKeep } from '../backup/keep.ts'
import { checkOpen, DATABASE, MANIFEST, readManifest } from '../backup/manifest.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { takeBackup } from '../backup/take-backup.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
import type { Config } from '../config/config.ts'
import { usualConfigFile } from '../config/places.ts'
import type {
  BackupReport,
  BackupRequest,
  ForgottenAgain,
  RestoreReport,
  RestoreRequest,
  VerifyReport,
} from '../core/backup.ts'
import { createChannels } from '../core/channel-traits.ts'
import { systemClock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { PLAIN_FILES, sealedFiles } from '../media/file-form.ts'
import { isOfState } from './own-data.ts'
import { storeKeyOf } from './store-key.ts'

interface Subject {
  readonly config: Config
  readonly secrets: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Returns the work of an operator on copies of the store. */
export function createBackupOperator(version: string) {
  return {
    take(subject: Subject, { to, keep, progress }: BackupRequest): Promise<BackupReport> {
      const { config, secrets, env } = subject
      const key = storeKeyOf(config)
      const channels = createChannels(config.routing.traits)
      return takeBackup(
        {
          ...{ path: config.store.path, dataDir: config.dataDir, key, program: version },
          media: key === undefined ? PLAIN_FILES : sealedFiles(key),
          ...{ config: config.file, context: { env, channels, secrets } },
        },
        {
          ...{ to: to ?? backupFolder(config), goesOn: to === undefined && config.backup?.to !== undefined },
          ...{ clock: systemClock, progress, keep: keep === undefined ? undefined : parseKeep(keep) },
        },
      )
    },

    async verify(
      { config }: Subject,
      copy: string | undefined,
      { progress }: Pick<BackupRequest, 'progress'>,
    ): Promise<VerifyReport> {
      const isFolderOfCopies =
        copy !== undefined && !existsSync(join(copy, MANIFEST)) && (await copiesIn(copy)).length > 0
      const path = copy === undefined || isFolderOfCopies ? await newestCopy(copy ?? backupFolder(config)) : copy
      await nameCopies(path)
      const { manifest: _manifest, ...report } = await verifyBackup(path, storeKeyOf(config), progress)
      return report
    },

    async restore({ config, env }: Subject, request: RestoreRequest): Promise<RestoreReport> {
      const { from, confirmed, newer, configFile, placedByCopy, progress } = request
      await nameCopies(from)
      const key = storeKeyOf(config)
      const deps = { key, clock: systemClock, channels: createChannels(config.routing.traits) }
      const home = env.HOME ?? homedir()
      const target = {
        ...{ path: config.store.path, dataDir: config.dataDir, key, env, placedByCopy },
        isOfState: (name: string) => isOfState(name, basename(config.store.path)),
        config: configFile ?? usualConfigFile({ env, cwd: '/', home }),
      }
      return restoreBackup(target, {
        ...{ from, confirmed, progress, clock: systemClock },
        ...(newer === undefined ? {} : { newer: databaseIn(newer, config) }),
        forgetAgain: (path, later) => againUnlessDamaged(() => forgetAgain(deps, path, later), newer),
      })
    },

    async configIn(copy: string): Promise<string | undefined> {
      const { config } = await readManifest(copy)
      return config === undefined ? undefined : join(copy, config.file)
    },
  }
}

/** Returns the folder in which copies are kept; a service may write to none but its own. */
export function backupFolder({ backup, dataDir }: Pick<Config, 'backup' | 'dataDir'>): string {
  return backup?.to ?? join(dataDir, 'backups')
}

/** A state that is replaced may be damaged: that is why people restore. A list that somebody names has to be read. */
async function againUnlessDamaged(
  again: () => Promise<ForgottenAgain | undefined>,
  named: string | undefined,
): Promise<ForgottenAgain | undefined> {
  try {
    return await again()
  } catch (error) {
    if (named !== undefined || !(error instanceof ParleyError)) throw error
    if (error.code !== 'unreadable' && error.code !== 'config') throw error
    return undefined
  }
}

function databaseIn(folder: string, { store }: Config): string {
  const names = [store.path.slice(store.path.lastIndexOf('/') + 1), DATABASE].map((name) => join(folder, name))
  const found = names.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new ParleyError(
    'invalid',
    `--newer: there is no database in ${folder}; name the state folder that was moved aside`,
  )
}

async function newestCopy(folder: string): Promise<string> {
  const [newest] = await copiesIn(folder)
  if (newest !== undefined) return newest.path
  throw new ParleyError('not_found', `There is no backup in ${folder} yet. Make one: parley backup`)
}

/** Throws `invalid` where somebody has named the folder of the copies instead of one of them. */
async function nameCopies(path: string): Promise<void> {
  checkOpen(path)
  if (existsSync(join(path, MANIFEST))) return
  if (!existsSync(path)) throw new ParleyError('invalid', `There is no folder ${path}; name a backup.`)
  if (!statSync(path).isDirectory())
    throw new ParleyError('invalid', `${path} is a file; name the folder of a backup, as "parley backup" prints it.`)
  const [newest] = await copiesIn(path)
  if (newest !== undefined)
    throw new ParleyError('invalid', `${path} holds backups and is none itself; the newest is ${newest.path}`)
}
