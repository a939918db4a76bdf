import { join } from 'node:path'
import type { Config } from '../config/config.ts'

/** Where the daemon of this configuration answers. */
export function socketPathOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'parley.sock')
}
