import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { MediaId } from '../../src/core/ids.ts'
import type { StoreKey } from '../../src/core/store-key.ts'
import { createMediaStore, type OwnMediaStore } from '../../src/media/media-store.ts'

/** A real media store in `folder`; nothing names its files unless `used` says so. */
export function mediaStoreIn(
  folder: string,
  used: ReadonlySet<MediaId> = new Set(),
  clock: Pick<Clock, 'elapsed'> = systemClock,
  key?: StoreKey,
): OwnMediaStore {
  return createMediaStore({ folder, clock, key, used: async () => used })
}

/** For tests in which no file is kept: there is no folder for one. */
export const noMedia: OwnMediaStore = mediaStoreIn('/nonexistent/media')
