import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createGroupCommit } from '../../src/store/engines/group-commit.ts'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import type { Sql } from '../../src/store/sql.ts'
import { removeTempFolders, tempFolder } from './temp-database.ts'

removeTempFolders()

/** What a body may do, each answering with what it was told. */
const STEPS = {
  read: (sql: Sql) => sql.all('SELECT * FROM notes', []),
  add: (sql: Sql) => sql.get("INSERT INTO notes (text) VALUES ('x') RETURNING no", []),
  change: (sql: Sql) => sql.run('UPDATE notes SET text = text || no WHERE no = (SELECT MAX(no) FROM notes)', []),
  count: (sql: Sql) =>
    sql.all(
      `INSERT INTO counters VALUES ('n', $1)
        ON CONFLICT (name) DO UPDATE SET value = counters.value + $1 RETURNING value`,
      [1],
    ),
  clash: (sql: Sql) => sql.run('INSERT INTO notes (no) SELECT 1 FROM notes', []).catch(() => 'refused'),
}

interface Body {
  readonly steps: readonly (keyof typeof STEPS)[]
  readonly fails: boolean
}

function openTables() {
  const connection = openConnection(join(tempFolder(), 'store.db'))
  connection.exec(`CREATE TABLE notes (no INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL)`)
  const group = createGroupCommit(connection, systemClock)
  return {
    clear: () => connection.exec('DELETE FROM notes; DELETE FROM counters'),
    rows: () => [connection.all('SELECT * FROM notes', []), connection.all('SELECT * FROM counters', [])],
    write: ({ steps, fails }: Body) =>
      group.write(async (sql) => {
        const told: unknown[] = []
        for (const step of steps) told.push(await STEPS[step](sql))
        if (fails) throw told
        return told
      }),
  }
}

it('bodies of one group are told and leave what they would one group each, whoever of them fails', async () => {
  const [together, apart] = [openTables(), openTables()]
  const steps = fc.array(fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])), { maxLength: 5 })
  const bodies = fc.array(fc.record({ steps, fails: fc.boolean() }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(bodies, async (all) => {
      together.clear()
      apart.clear()
      const settled = await Promise.allSettled(all.map(together.write))
      for (const [index, body] of all.entries()) {
        const [alone] = await Promise.allSettled([apart.write(body)])
        expect(settled[index]).toEqual(alone)
      }
      expect(together.rows()).toEqual(apart.rows())
    }),
    { numRuns: 60 },
  )
})
