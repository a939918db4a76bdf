import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { OutboxReading } from '../../src/store/outbox.ts'
import type { Sql } from '../../src/store/sql.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

it('a monitor counts what was not sent by an index that has none of the rows that were', async () => {
  const asked: string[] = []
  const none: Pick<Sql, 'all' | 'get'> = {
    async all(text) {
      asked.push(text)
      return []
    },
    async get(text) {
      asked.push(text)
      return undefined
    },
  }
  const outbox = new OutboxReading({ sql: none as Sql, logger: silentLogger, epoch: 1, caseSensitive: [] })
  await outbox.unsentCounts()
  await outbox.undecidedCount()
  const path = join(tempFolder(), 'store.db')
  await (await openSqliteStore({ path, clock: systemClock })).close()
  withDatabase(path, (database) => {
    const plan = (text: string) => database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all()
    expect(asked.flatMap(plan).map(({ detail }) => detail)).toEqual([
      'SCAN outbox USING COVERING INDEX outbox_by_state',
      'SEARCH outbox USING INDEX outbox_by_state (state=?)',
    ])
  })
})
