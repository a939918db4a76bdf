import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createIdSource } from '../../../src/core/ids.ts'
import { MOST_ASKING, MOST_HANDLED, recordRefusal } from '../../../src/sessions/people/record-refusal.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { inboxRow } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from '../../store/temp-database.ts'

removeTempFolders()

const ids = createIdSource({ now: systemClock.now, randomBytes })

it.each([
  ['of one applicant', MOST_HANDLED, () => 'telegram:1'],
  ['of many applicants', MOST_ASKING, (no: number) => `telegram:${no}`],
])(
  'C31: the oldest message %s, whose row cannot be read, keeps no other from being recorded',
  async (_, most, keyOf) => {
    const path = join(tempFolder(), 'parley.db')
    const store = await openSqliteStore({ path, clock: systemClock })
    const refuse = async (no: number) => {
      const row = inboxRow(no, no)
      const asks = { kind: 'person', key: keyOf(no) } as const
      await store.write(async (tx) => {
        await tx.inbox.add(row)
        await recordRefusal(tx, { id: row.id, dispatch: row.dispatch, asks }, ids)
      })
      return (await store.read.admissions.refusals(asks.key, 0, MOST_HANDLED)).includes(row.id)
    }
    for (let no = 1; no <= most; no++) expect(await refuse(no)).toBe(true)
    withDatabase(path, (database) =>
      database.exec("UPDATE inbox SET dispatch = '{broken' WHERE no = (SELECT MIN(no) FROM inbox)"),
    )
    expect(await refuse(most + 1)).toBe(true)
    expect(await refuse(most + 2)).toBe(true)
    await store.close()
  },
)
