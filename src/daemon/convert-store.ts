import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { ParleyError } from '../core/errors.ts'
import type { StoreSchema } from '../core/machine.ts'
import type { ConversionReport, ConvertOptions } from '../core/store-conversion.ts'
import { MAKE_A_KEY } from '../core/store-key.ts'
import { convertMedia, type MediaConverted } from '../media/convert-media.ts'
import { convertStore } from '../store/engines/convert-store.ts'
import { halfRestored, restoringFile } from '../store/engines/sqlite-files.ts'
import { readSchemaVersion } from '../store/engines/sqlite-migrate.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import { storeKeyOf } from './store-key.ts'

/**
 * Encrypts or decrypts the configured store, which no daemon may hold meanwhile. Rejects with `config` without a key.
 */
export async function convertConfigured(config: Config, { to, progress }: ConvertOptions): Promise<ConversionReport> {
  const key = storeKeyOf(config)
  if (key === undefined) {
    const remedy = to === 'plain' ? 'set it to the key with which the store was encrypted' : MAKE_A_KEY
    throw new ParleyError('config', `store.key is not set; ${remedy}`)
  }
  let media: MediaConverted = { files: 0, left: [] }
  const { converted, left } = await convertStore({
    ...{ path: config.store.path, key, to },
    async beside() {
      media = await convertMedia({ folder: join(config.dataDir, 'media'), key, to, progress })
    },
  })
  return { form: to, databases: converted, files: media.files, left: [...left, ...media.left] }
}

/** Returns the schema of the configured store, which a daemon may hold; undefined where there is none yet. */
export function schemaOf(config: Config): StoreSchema | undefined {
  const { path } = config.store
  if (existsSync(restoringFile(path))) throw halfRestored(path)
  if (!existsSync(path)) return undefined
  const { bavail, bsize } = statfsSync(path)
  const schema = readSchemaVersion(path, storeKeyOf(config))
  return { path, bytes: statSync(path).size, free: bavail * bsize, schema, known: MIGRATIONS.length }
}
