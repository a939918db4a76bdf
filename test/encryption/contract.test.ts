import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { openEither } from '../../src/store/engines/sqlite-cipher.ts'
import { storeContract } from '../contracts/store-contract.ts'

storeContract('encrypted sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-store-'))
  const path = join(folder, 'store.db')
  const key = new StoreKey(randomBytes(32).toString('hex'))
  return {
    open: (logger) => openSqliteStore({ path, key, clock: systemClock, logger }),
    async execute(statement) {
      const database = openEither(path, key)
      database.exec(statement)
      database.close()
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
})
