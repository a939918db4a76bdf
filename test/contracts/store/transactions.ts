import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { toAccountId } from '../../../src/core/ids.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { type ContractPart, failureOf, rejection } from './under-test.ts'

const ACCOUNT = toAccountId('default')

export const transactionContract: ContractPart = (underTest) => {
  const set = (key: string, value: string) => (tx: StoreWriter) => tx.channelState.set('telegram', ACCOUNT, key, value)
  const get = (key: string) => underTest.store.read.channelState.get('telegram', ACCOUNT, key)

  it('write resolves with what the body returned, after the data can be read', async () => {
    const value = await underTest.store.write(async (tx) => {
      await set('cursor', '7')(tx)
      return 'done'
    })
    expect(value).toBe('done')
    expect(await get('cursor')).toBe('7')
  })

  it('what is to be told after the commit is told before the write resolves, and not of what was undone', async () => {
    const { store } = underTest
    const told: string[] = []
    const good = store.write(async (tx) => {
      tx.afterCommit(() => told.push('committed'))
      told.push('body')
    })
    const bad = store.write(async (tx) => {
      tx.afterCommit(() => told.push('undone'))
      throw new Error('no')
    })
    await Promise.allSettled([good.then(() => told.push('resolved')), bad])
    expect(told).toEqual(['body', 'committed', 'resolved'])
  })

  it('what is to be taken back after an undo is taken back before the next body runs, the last first', async () => {
    const { store } = underTest
    const memory: string[] = []
    const before: Record<string, string[]> = {}
    const takenBack: { made: string; was: string | undefined }[] = []
    const body = (name: string, fails: boolean) => async (tx: StoreWriter) => {
      before[name] = [...memory]
      for (const made of [`${name} 1`, `${name} 2`]) {
        memory.push(made)
        tx.afterUndo(() => takenBack.push({ made, was: memory.pop() }))
      }
      await set(name, '1')(tx)
      if (fails) throw new Error('no')
    }
    const writes = [body('a', false), body('b', true), body('c', true), body('d', false)]
    await Promise.allSettled(writes.map((write) => store.write(write)))
    const a = ['a 1', 'a 2']
    expect(before).toEqual({ a: [], b: a, c: a, d: a })
    expect(memory).toEqual([...a, 'd 1', 'd 2'])
    expect(takenBack.filter(({ made, was }) => made !== was)).toEqual([])
    expect(takenBack.length).toBeGreaterThanOrEqual(4)
  })

  it('a throwing body undoes its own writes and rejects with what it threw, the others commit', async () => {
    const failure = new Error('no')
    const [first, second, third] = await Promise.allSettled([
      underTest.store.write(set('first', '1')),
      underTest.store.write(async (tx) => {
        await set('second', '2')(tx)
        throw failure
      }),
      underTest.store.write(set('third', '3')),
    ])
    expect([first.status, third.status]).toEqual(['fulfilled', 'fulfilled'])
    expect(second).toEqual({ status: 'rejected', reason: failure })
    expect([await get('first'), await get('second'), await get('third')]).toEqual(['1', undefined, '3'])
  })

  it('a body that throws before its first statement rejects', async () => {
    const failure = await rejection(underTest.store, () => {
      throw new Error('at once')
    })
    expect(failure).toMatchObject({ message: 'at once' })
  })

  it('a later body sees what an earlier one of the same group wrote', async () => {
    const { store } = underTest
    const [, seen] = await Promise.all([
      store.write(set('key', 'early')),
      store.write((tx) => tx.channelState.get('telegram', ACCOUNT, 'key')),
    ])
    expect(seen).toBe('early')
  })

  it('a read during a transaction sees committed data only', async () => {
    const { store } = underTest
    let during: Promise<string | undefined> | undefined
    const failure = await rejection(store, async (tx) => {
      await set('key', 'uncommitted')(tx)
      during = get('key')
      throw new Error('undo')
    })
    expect(failure).toMatchObject({ message: 'undo' })
    expect(during).toBeDefined()
    expect(await during).toBeUndefined()
  })

  it('a transaction used after its body ended is refused', async () => {
    let kept: StoreWriter | undefined
    await underTest.store.write(async (tx) => {
      kept = tx
    })
    const late = kept === undefined ? Promise.resolve() : set('late', '1')(kept)
    expect(await failureOf(late)).toMatchObject({
      code: 'internal',
      message: expect.stringContaining('after its body'),
    })
    expect(await get('late')).toBeUndefined()
  })

  it('a caught conflict leaves the rest of the body usable', async () => {
    const draft = sessionDraft(1)
    await underTest.store.write((tx) => tx.sessions.create(draft, 1))
    await underTest.store.write(async (tx) => {
      expect(await failureOf(tx.sessions.create(draft, 2))).toMatchObject({ code: 'conflict' })
      await set('after', 'conflict')(tx)
    })
    expect(await get('after')).toBe('conflict')
  })

  it('the epoch rises by one with each open', async () => {
    const before = underTest.store.epoch
    expect((await underTest.reopen()).epoch).toBe(before + 1)
    expect((await underTest.reopen()).epoch).toBe(before + 2)
  })

  it('close waits for writes under way, refuses later ones, and may be called again', async () => {
    const { store } = underTest
    const pending = store.write(set('last', 'words'))
    const closed = store.close()
    await pending
    await closed
    await store.close()
    expect(await failureOf(store.write(set('too', 'late')))).toMatchObject({ code: 'unavailable' })
    expect(await failureOf(get('last'))).toMatchObject({ code: 'unavailable' })
    await underTest.reopen()
    expect(await get('last')).toBe('words')
    expect(await get('too')).toBeUndefined()
  })

  it('a body that awaits something else fails clearly, undone, and harms nobody', async () => {
    const { store } = underTest
    const [before, stuck, after] = await Promise.allSettled([
      store.write(set('before', '1')),
      store.write(async (tx) => {
        await set('stuck', '1')(tx)
        await wait(100)
        await set('stuck', '2')(tx)
      }),
      store.write(set('after', '1')),
    ])
    expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled'])
    expect(stuck).toMatchObject({ reason: { code: 'internal', message: expect.stringContaining('awaited') } })
    expect([await get('before'), await get('stuck'), await get('after')]).toEqual(['1', undefined, '1'])
  })

  it.each([
    [
      'a transaction inside a transaction',
      (tx: StoreWriter) => set('outer', '1')(tx).then(() => underTest.store.write(set('inner', '1'))),
    ],
    ['a read outside of it', () => get('anything')],
  ])('%s is found out, not waited for', async (_, body) => {
    expect(await rejection(underTest.store, body)).toMatchObject({ code: 'internal' })
    expect(await get('outer')).toBeUndefined()
  })
}
