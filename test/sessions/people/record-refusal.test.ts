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

it('S20: whoever leaves a group that waits takes the place of no message, unless one of theirs waits', async () => {
  const store = await openSqliteStore({ path: join(tempFolder(), 'parley.db'), clock: systemClock })
  const asks = { kind: 'place', key: 'telegram:group:-1' } as const
  const refuse = async (no: number, isLeft = false, from = `${no}`) => {
    const row = inboxRow(no, no)
    const { address, eventKey, sentAt } = row.dispatch.event
    const facts = { address, eventKey, sentAt, sender: { id: from, kind: 'user' } } as const
    const event = isLeft ? ({ ...facts, kind: 'departure' } as const) : { ...row.dispatch.event, sender: facts.sender }
    const dispatch = { ...row.dispatch, event }
    await store.write(async (tx) => {
      await tx.inbox.add({ ...row, dispatch })
      await recordRefusal(tx, { id: row.id, dispatch, asks }, ids)
    })
    return row.id
  }
  const waiting = async () => store.read.admissions.refusals(asks.key, 0, MOST_HANDLED)
  const spoken = await refuse(1, false, 'ann')
  for (let no = 2; no <= MOST_HANDLED + 2; no++) await refuse(no, true)
  expect(await waiting()).toEqual([spoken])
  const left = await refuse(MOST_HANDLED + 3, true, 'ann')
  expect(await waiting()).toEqual([spoken, left])
  await store.close()
})
