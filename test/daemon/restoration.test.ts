import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createRestoration } from '../../src/daemon/restoration.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

it.each(['resume', 'discard'] as const)(
  '%s without a daemon says that nothing is held where nothing is',
  async (verdict) => {
    const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
    onTestFinished(() => store.close())
    const decided = createRestoration({ store }).decide(verdict)
    await expect(decided).rejects.toMatchObject({
      code: 'conflict',
      message: 'Nothing is held: there is nothing to decide.',
    })
  },
)
