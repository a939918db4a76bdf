import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createIdSource } from '../../../src/core/ids.ts'
import type { Delivery } from '../../../src/core/outbound.ts'
import { recordUndelivered } from '../../../src/sessions/turns/record-undelivered.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { deliveryOf, sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

it.each([
  [1_800_000_000_000, 1],
  [1_800_000_000_002, 0],
])('K30: of a session made at %i a text of 1800000000001 that did not arrive gives %i notes', async (made, notes) => {
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/store.db`), clock: systemClock })
  const ids = createIdSource({ now: () => 1_800_000_000_001, randomBytes: (count) => new Uint8Array(count) })
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), made))
  const lost = { ...deliveryOf(ids.turn()), id: ids.delivery(), sessionId: session.id, class: 'reply' } as Delivery
  await store.write((tx) => recordUndelivered(tx, lost, { state: 'rejected', reason: 'blocked' }, made + 9))
  const events = await store.read.events.latest(session.id, 9)
  expect(events.filter(({ type }) => type === 'delivery_failed')).toHaveLength(notes)
  await store.close()
})

it('S41: what a turn has said beside its answer and did not arrive is noted as of that turn, with which it is forgotten', async () => {
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/store.db`), clock: systemClock })
  const ids = createIdSource({ now: () => 1_800_000_000_001, randomBytes: (count) => new Uint8Array(count) })
  const session = await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  const turn = ids.turn()
  for (const source of [turn, ids.aside(turn), ids.notice()]) {
    const lost = { ...deliveryOf(source), id: ids.delivery(), sessionId: session.id, class: 'reply' } as Delivery
    await store.write((tx) => recordUndelivered(tx, lost, { state: 'rejected', reason: 'blocked' }, 9))
  }
  const events = (await store.read.events.latest(session.id, 9)).filter(({ type }) => type === 'delivery_failed')
  expect(events.map(({ turnId }) => turnId)).toEqual([turn, turn, undefined])
  await store.close()
})
