import { expect, it } from 'vitest'
import { createIdSource, type IdSource } from '../../../src/core/ids.ts'
import { deliveryOf, inboxRow } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession } from './under-test.ts'

/** Ids as they are made at that time. */
const idsAt = (ms: number): IdSource =>
  createIdSource({ now: () => ms, randomBytes: (count) => new Uint8Array(count).fill(ms % 251) })

export const ageingContract: ContractPart = (underTest) => {
  it('S41: what was forgotten keeps its row: a platform gives the words again, years later', async () => {
    const { store } = underTest
    const { id: sessionId } = await makeSession(store, 1)
    const ids = idsAt(1_000)
    const row = { ...inboxRow(1, 1, { state: 'done', outcome: 'forgotten' }), id: ids.inbox() }
    const answer = { ...deliveryOf(ids.turn()), sessionId, id: ids.delivery(), state: 'sent' as const }
    const { sessionId: _session, ...command } = { ...answer, source: row.id, id: ids.delivery() }
    await store.write(async (tx) => {
      await tx.inbox.add(row)
      await tx.inbox.add({ ...inboxRow(1, 2, { state: 'done', outcome: 'aged' }), id: ids.inbox() })
      await tx.outbox.add([answer, command])
      for (const { source } of [answer, command]) await tx.forgetting.emptySent(source)
    })
    const aged = await store.write(async ({ ageing }) => [
      await ageing.messages(9_000, 9),
      await ageing.deliveries(9_000, 9),
      await ageing.answers(9_000, 9),
    ])
    expect(aged).toEqual([0, 0, 0])
  })

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
    await underTest.store.write((tx) => tx.inbox.add(at(1_500, 6)))
    expect(await underTest.store.write((tx) => tx.ageing.messages(2_000, 9))).toBe(1)
    expect(await underTest.store.read.ageing.agedOut(), 'never goes back').toBe(3_000)
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
    expect(await store.write((tx) => tx.ageing.answers(1_002, 9))).toBe(0)
    const { outbox } = (await underTest.reopen()).read
    expect(await Promise.all(rows.map(async ({ id }) => (await outbox.get(id)) !== undefined))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it('answers in sessions go once their sending has ended', async () => {
    const { store } = underTest
    const { id: sessionId } = await makeSession(store, 1)
    const sample = (ms: number, changes = {}) => {
      const ids = idsAt(ms)
      return { ...deliveryOf(ids.turn()), sessionId, id: ids.delivery(), state: 'sent' as const, ...changes }
    }
    const rows = [
      sample(1_000),
      sample(1_001, { state: 'planned' }),
      sample(1_002, { state: 'expired' }),
      sample(5_000),
    ]
    await store.write((tx) => tx.outbox.add(rows))
    expect(await store.write((tx) => tx.ageing.deliveries(9_000, 9))).toBe(0)
    const { sessionId: _session, ...command } = sample(1_003)
    await store.write((tx) => tx.outbox.add([command]))
    expect(await store.write((tx) => tx.ageing.answers(2_000, 1))).toBe(1)
    expect(await store.write((tx) => tx.ageing.answers(2_000, 9))).toBe(1)
    const { outbox } = (await underTest.reopen()).read
    expect((await outbox.counts()).sent, 'the newest, and the answer to a command').toBe(2)
    expect((await outbox.counts()).planned).toBe(1)
  })

  it('the newest message or delivery tells its time, and mutes go once they ran out', async () => {
    const { store } = underTest
    expect(await store.read.ageing.newest()).toBeUndefined()
    await store.write((tx) => tx.inbox.add({ ...inboxRow(1, 1, { state: 'done' }), id: idsAt(1_000).inbox() }))
    expect(await store.read.ageing.newest()).toBe(1_000)
    const { sessionId: _session, ...row } = deliveryOf(idsAt(1).turn())
    await store.write((tx) => tx.outbox.add([{ ...row, id: idsAt(5_000).delivery(), state: 'sent' as const }]))
    expect(await store.read.ageing.newest()).toBe(5_000)
    await store.write(async (tx) => {
      await tx.mutes.set({ conversation: 'a', until: 1_000 }, 1)
      await tx.mutes.set({ conversation: 'b', until: 2_000 }, 1)
      await tx.mutes.set({ conversation: 'c' }, 1)
    })
    expect(await store.write((tx) => tx.ageing.mutes(2_000, 9))).toBe(1)
    expect((await store.read.mutes.all()).map(({ conversation }) => conversation)).toEqual(['b', 'c'])
  })

  it('a notice of a time yet to come is told again, one that is told once for ever is not', async () => {
    const { store } = underTest
    const once = (key: string, at: number, windowMs: number) => store.write((tx) => tx.notices.once(key, at, windowMs))
    await once('day', 10_000, 10)
    await once('ever', 10_000, Number.MAX_SAFE_INTEGER)
    expect([await once('day', 9_995, 10), await once('day', 5_000, 10), await once('day', 5_005, 10)]).toEqual([
      false,
      true,
      false,
    ])
    expect(await once('ever', 5_000, Number.MAX_SAFE_INTEGER)).toBe(false)
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
