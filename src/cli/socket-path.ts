import { join } from 'node:path'
import type { Config } from '../config/config.ts'

/** Returns the path of the socket on which the daemon of this configuration answers. */
export function socketPathOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'parley.sock')
}
