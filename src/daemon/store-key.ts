import type { Config } from '../config/config.ts'
import { ParleyError } from '../core/errors.ts'
import { StoreKey } from '../core/store-key.ts'

/** Returns the key of the store; absent where none is configured. Throws `config` for one that cannot be had here. */
export function storeKeyOf({ store: { key, keyAbsent } }: Pick<Config, 'store'>): StoreKey | undefined {
  if (keyAbsent !== undefined)
    throw new ParleyError('config', `The store cannot be opened without its key. ${keyAbsent}`)
  return key === undefined ? undefined : new StoreKey(key.reveal())
}
