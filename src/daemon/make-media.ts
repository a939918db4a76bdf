import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import { createMediaStore, type OwnMediaStore, type UnnamedFiles } from '../media/media-store.ts'
import type { Store } from '../store/store.ts'
import { storeKeyOf } from './store-key.ts'

interface MediaDeps {
  readonly config: Config
  readonly clock: Clock
  readonly store: Pick<Store, 'read'>
  /** Notified by the store of what its events name. */
  readonly unnamed: UnnamedFiles
}

/** Returns the files of the conversations, under the data folder. */
export function makeMedia({ config, clock, store: { read }, unnamed }: MediaDeps): OwnMediaStore {
  const [folder, key] = [join(config.dataDir, 'media'), storeKeyOf(config)]
  return createMediaStore({ folder, clock, key, unnamed, used: (ids) => read.media.used(ids) })
}

const DAY_MS = 86_400_000

interface SweepDeps {
  readonly media: Pick<OwnMediaStore, 'sweep'>
  readonly store: Pick<Store, 'write'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Returns the function that deletes files that nothing names, and the transcripts of such recordings; it returns how
 * many.
 */
export function sweepFiles({ media, store, clock }: SweepDeps): () => Promise<number> {
  return async () => {
    const files = await media.sweep()
    return files + (await store.write((tx) => tx.transcripts.sweep(clock.now() - DAY_MS)))
  }
}
