import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { InboxId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { decisionOf, dispatchOf, inboxRow } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'message-keys'),
)

/** A key of the schema before it, and the one the same event has now. */
const KEYS = [
  ['7000001:message:111/35', '7000001:message:35@111'],
  ['7000001:message:-1001234567890/8', '7000001:message:8@-1001234567890'],
  ['7000001:message:-5/12#admitted', '7000001:message:12@-5#admitted'],
  ['7000001:edit:111/35@1795291666#9', '7000001:edit:111/35@1795291666#9'],
  ['7000001:button:aa:message:1/2', '7000001:button:aa:message:1/2'],
  ['run_message:1/2', 'run_message:1/2'],
] as const

it('S43: what the platform gives again after the upgrade is known by the key it has now', async () => {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  for (const [no, [key]] of KEYS.entries()) await old.write((tx) => tx.inbox.add(row(no, key)))
  await old.close()
  const slack = ['slack', 'T1/U1:message:C1/1700.1'] as const
  withDatabase(path, (database) => {
    const copy = `INSERT INTO inbox (id, channel, account, event_key, kind, trace_id, state, dispatch, decision)
      SELECT 'in_slack', ?, account, ?, kind, trace_id, state, dispatch, decision FROM inbox LIMIT 1`
    database.prepare(copy).run(...slack)
  })
  const store = await openSqliteStore({ path, clock: systemClock })
  for (const [no, [, key]] of KEYS.entries()) {
    expect([key, await store.write((tx) => tx.inbox.add(row(no + 100, key)))]).toEqual([key, false])
    expect((await store.read.inbox.byKey('telegram', dispatchOf(1, 1).event.address.account, key))?.id).toBe(
      row(no, key).id,
    )
  }
  const keys = withDatabase(path, (database) =>
    database.prepare('SELECT event_key FROM inbox ORDER BY no').pluck().all(),
  )
  expect(keys).toEqual([...KEYS.map(([, key]) => key), slack[1]])
  // It is decided anew from its dispatch once its author is let in; the others are history.
  const [refused, run] = await Promise.all([0, 1].map((no) => store.read.inbox.get(`in_${no}` as InboxId)))
  expect(refused?.dispatch.event.eventKey).toBe(KEYS[0][1])
  expect(run?.dispatch.event.eventKey).toBe(KEYS[1][0])
  await store.close()
})

function row(no: number, eventKey: string) {
  const dispatch = dispatchOf(1, no)
  const { identity, trace } = decisionOf(1)
  return inboxRow(1, no, {
    id: `in_${no}` as InboxId,
    dispatch: { ...dispatch, event: { ...dispatch.event, eventKey } },
    ...(no === 0 ? { decision: { kind: 'refuse', reason: 'stranger', identity, trace } as const } : {}),
  })
}
