import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { unsaySafely } from '../../../src/sessions/forgetting/said.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { deliveryOf, ids } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

it('S41: an answer counts as being deleted in its chat once its deletion is on record, and only then', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const turn = ids.turn()
  await store.write((tx) => tx.outbox.add([deliveryOf(turn)]))
  const ports = { store, clock: systemClock, nextOutcome: async () => {}, stopping: () => false }
  let begun = 0
  const count = async () => void begun++
  const nothing = async () => true
  const deletes = async (tx: StoreWriter) => {
    await tx.outbox.add([deliveryOf(turn, { partNo: 1, op: 'delete' })])
    return true
  }
  expect(await unsaySafely({ ...ports, unsay: nothing }, turn, count)).toBe(false)
  expect(begun).toBe(0)
  expect(await unsaySafely({ ...ports, unsay: deletes }, turn, count)).toBe(true)
  expect(begun).toBe(1)
})
