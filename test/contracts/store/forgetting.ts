import { expect, it } from 'vitest'
import { type Forgetting, NO_PLAN, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import type { ContractPart } from './under-test.ts'

const ONE: Forgetting = { id: 'in_1', state: 'running', plan: NO_PLAN, counts: NOTHING_FORGOTTEN, askedAt: 1 }

export const forgettingContract: ContractPart = (underTest) => {
  it('a request that was begun is open until it is finished, after a restart too', async () => {
    await underTest.store.write((tx) => tx.forgetting.begin(ONE))
    const { read, write } = await underTest.reopen()
    expect(await read.forgetting.open()).toEqual([ONE])
    const counts = { ...NOTHING_FORGOTTEN, events: 3 }
    await write((tx) => tx.forgetting.note('in_1', counts))
    expect(await read.forgetting.get('in_1')).toEqual({ ...ONE, counts })
    await write((tx) => tx.forgetting.finish('in_1', { plan: NO_PLAN, counts }))
    expect(await read.forgetting.open()).toEqual([])
    expect(await read.forgetting.recent(5)).toEqual([{ ...ONE, state: 'done', counts }])
  })

  it('a limit has one mark, until it is gone', async () => {
    const mark = { rule: 'retention.days', days: 30, reportedAt: 1, startsAt: 2 }
    await underTest.store.write(async (tx) => {
      await tx.forgetting.mark(mark)
      await tx.forgetting.mark({ ...mark, days: 20 })
    })
    expect(await underTest.store.read.forgetting.marks()).toEqual([{ ...mark, days: 20 }])
    await underTest.store.write((tx) => tx.forgetting.unmark('retention.days'))
    expect(await underTest.store.read.forgetting.marks()).toEqual([])
  })
}
