import { expect, it } from 'vitest'
import { deliveryOf, ids } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf } from './under-test.ts'

/** How a restore says that the database is an older copy. */
const MARKED = "INSERT INTO counters (name, value) VALUES ('restored', 1)"

export const restorationContract: ContractPart = (underTest) => {
  const owed = async () => {
    const rows = [deliveryOf(ids.turn()), deliveryOf(ids.turn(), { state: 'sending', startedAt: 4 })] as const
    await underTest.store.write((tx) => tx.outbox.add([...rows, deliveryOf(ids.turn(), { state: 'sent' })]))
    return rows
  }
  const waiting = async () => (await underTest.store.read.outbox.unfinished()).map(({ id }) => id)

  it('a database that was only stopped was not put back, one that a restore marked was, once', async () => {
    await underTest.reopen()
    expect(await underTest.store.read.restorations.latest()).toBeUndefined()
    await underTest.reopen(MARKED)
    const found = await underTest.store.read.restorations.latest()
    expect(found).toMatchObject({ state: 'found' })
    expect(found?.lastAt).toBeGreaterThan(0)
    await underTest.store.write((tx) => tx.restorations.hold())
    await underTest.reopen()
    expect(await underTest.store.read.restorations.latest()).toEqual({ ...found, state: 'held' })
  })

  it('what is held is counted and not owed, until it is let go', async () => {
    await underTest.reopen(MARKED)
    const [planned, sending] = await owed()
    await underTest.store.write((tx) => tx.restorations.hold())
    expect(await underTest.store.read.restorations.held()).toBe(2)
    expect(await waiting()).toEqual([])
    expect(await underTest.store.write((tx) => tx.restorations.resume())).toEqual([planned.id, sending.id])
    expect(await waiting()).toEqual([planned.id, sending.id])
    expect(await underTest.store.read.restorations.latest()).toMatchObject({ state: 'resumed' })
    expect(await underTest.store.read.restorations.held()).toBe(0)
  })

  it('what is discarded is ended with its reason, and what is queued later is not', async () => {
    await underTest.reopen(MARKED)
    const [planned, sending] = await owed()
    await underTest.store.write((tx) => tx.restorations.hold())
    const later = deliveryOf(ids.turn())
    await underTest.store.write((tx) => tx.outbox.add([later]))
    expect(await underTest.store.write((tx) => tx.restorations.discard('not wanted'))).toBe(2)
    for (const { id } of [planned, sending]) {
      expect(await underTest.store.read.outbox.get(id)).toMatchObject({ state: 'expired', reason: 'not wanted' })
    }
    expect(await waiting()).toEqual([later.id])
    expect(await underTest.store.read.restorations.latest()).toMatchObject({ state: 'discarded' })
  })
  it.each(['resume', 'discard'] as const)('an owner chooses once: after %s neither is done', async (choice) => {
    const decide = (verdict: 'resume' | 'discard') =>
      underTest.store.write<unknown>((tx) =>
        verdict === 'resume' ? tx.restorations.resume() : tx.restorations.discard('not wanted'),
      )
    await underTest.reopen(MARKED)
    const [planned] = await owed()
    await underTest.store.write((tx) => tx.restorations.hold())
    await decide(choice)
    const { restorations, outbox } = underTest.store.read
    const before = [await restorations.latest(), await outbox.get(planned.id)]
    for (const verdict of ['resume', 'discard'] as const) {
      expect(await failureOf(decide(verdict))).toMatchObject({
        code: 'conflict',
        message: 'Nothing is held: there is nothing to decide.',
      })
    }
    expect([await restorations.latest(), await outbox.get(planned.id)]).toEqual(before)
  })
}
