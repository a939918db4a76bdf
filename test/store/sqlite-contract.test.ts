import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { withDatabase } from './temp-database.ts'

storeContract('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-store-'))
  const path = readyDatabase(join(folder, 'store.db'))
  return {
    open: (logger) => openSqliteStore({ path, clock: systemClock, logger }),
    execute: async (statement) => void withDatabase(path, (database) => database.exec(statement)),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
})
