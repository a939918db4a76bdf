import type { Config } from '../config/config.ts'
import { toError } from '../core/errors.ts'

/** Returns the driver that encrypts; throws `no_driver` in words where it is not there. */
type LoadDriver = () => Promise<unknown>

const cipherDriver: LoadDriver = async () => (await import('../store/engines/sqlite-cipher.ts')).cipherDriver()

/** Returns why a start would refuse the configured store on this machine; empty: nothing is known against it. */
export async function storeWarnings(
  { key }: Pick<Config['store'], 'key'>,
  load: LoadDriver = cipherDriver,
): Promise<readonly string[]> {
  if (key === undefined) return []
  try {
    await load()
    return []
  } catch (err) {
    return [`a start is refused here: ${toError(err).message}`]
  }
}
