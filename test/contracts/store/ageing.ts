import { expect, it } from 'vitest'
import { createIdSource, type IdSource } from '../../../src/core/ids.ts'
import { deliveryOf, inboxRow } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession } from './under-test.ts'

/** Ids as they are made at that time. */
const idsAt = (ms: number): IdSource =>
  createIdSource({ now: () => ms, randomBytes: (count) => new Uint8Array(count).fill(ms % 251) })

export const ageingContract: ContractPart = (underTest) => {
  it('messages of no session go by age, the oldest first, and those of sessions or that are owed stay', async () => {
    const { store } = underTest
    const { id: sessionId } = await makeSession(store, 1)
    const done = { state: 'done', outcome: 'refused: stranger' } as const
    const at = (ms: number, no: number, changes = {}) => ({
      ...inboxRow(1, no, done),
      id: idsAt(ms).inbox(),
      ...changes,
    })
    await store.write(async (tx) => {
      await tx.inbox.add(at(1_000, 1))
      await tx.inbox.add(at(2_000, 2))
      await tx.inbox.add(at(3_000, 3))
      await tx.inbox.add(at(1_001, 4, { sessionId, outcome: 'context' }))
      await tx.inbox.add(at(1_002, 5, { state: 'waiting', outcome: undefined }))
    })
    expect(await store.read.ageing.agedOut()).toBeUndefined()
    expect(await store.write((tx) => tx.ageing.messages(3_000, 1))).toBe(1)
    expect(await store.write((tx) => tx.ageing.messages(3_000, 9))).toBe(1)
    expect(await store.write((tx) => tx.ageing.messages(3_000, 9))).toBe(0)
    const { inbox, ageing } = (await underTest.reopen()).read
    expect((await inbox.recent(9)).map(({ dispatch: { event } }) => 'messageId' in event && event.messageId)).toEqual([
      '5',
      '4',
      '3',
    ])
    expect(await ageing.agedOut()).toBe(3_000)
    // What is gone is new when it comes again, what is kept is known.
    const again = (no: number) => underTest.store.write((tx) => tx.inbox.add(at(9_000, no)))
    expect([await again(1), await again(3), await again(4)]).toEqual([true, false, false])
  })

  it('deliveries for no session go once they have ended', async () => {
    const { store } = underTest
    const { id: sessionId } = await makeSession(store, 1)
    const sample = (ms: number, changes = {}) => {
      const ids = idsAt(ms)
      const { sessionId: _session, ...row } = deliveryOf(ids.turn())
      return { ...row, id: ids.delivery(), state: 'sent' as const, ...changes }
    }
    const rows = [sample(1_000), sample(1_001, { state: 'planned' }), sample(1_002, { sessionId }), sample(5_000)]
    await store.write((tx) => tx.outbox.add(rows))
    expect(await store.write((tx) => tx.ageing.deliveries(2_000, 9))).toBe(1)
    expect(await store.write((tx) => tx.ageing.deliveries(2_000, 9))).toBe(0)
    const { outbox } = (await underTest.reopen()).read
    expect(await Promise.all(rows.map(async ({ id }) => (await outbox.get(id)) !== undefined))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it('notices go by the time they were told', async () => {
    const { store } = underTest
    await store.write(async (tx) => {
      await tx.notices.once('old', 1_000, 10)
      await tx.notices.once('new', 2_000, 10)
    })
    expect(await store.write((tx) => tx.ageing.notices(2_000, 9))).toBe(1)
    expect(await store.write((tx) => tx.notices.once('new', 2_005, 10))).toBe(false)
    expect(await store.write((tx) => tx.notices.once('old', 1_005, 10))).toBe(true)
  })
}
