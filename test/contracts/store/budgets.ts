import { expect, it } from 'vitest'
import type { ContractPart } from './under-test.ts'

const DAY = { payer: 'chat:telegram:group:-1', period: '2026-11-26' }
const MONTH = { payer: 'total:', period: '2026-11' }
const NONE = { tokens: 0, micros: 0 }
const keys = [
  { ...DAY, endsAt: 1_000 },
  { ...MONTH, endsAt: 9_000 },
]

export const budgetContract: ContractPart = (underTest) => {
  const counts = () => underTest.store.read.budgets.counts([DAY, MONTH])

  it('C33: a call is held, then counted at its cost, for each of its keys, and once', async () => {
    await underTest.store.write((tx) => tx.budgets.hold('1', { tokens: 100, micros: 50 }, keys))
    const held = { tokens: 100, micros: 50 }
    expect(await counts()).toEqual([
      { ...DAY, spent: NONE, held },
      { ...MONTH, spent: NONE, held },
    ])
    expect(await underTest.store.write((tx) => tx.budgets.settle('1', { tokens: 30, micros: 10 }))).toEqual([
      DAY,
      MONTH,
    ])
    expect(await underTest.store.write((tx) => tx.budgets.settle('1', { tokens: 30, micros: 10 }))).toEqual([])
    expect((await counts()).map(({ spent, held }) => [spent, held])).toEqual([
      [{ tokens: 30, micros: 10 }, NONE],
      [{ tokens: 30, micros: 10 }, NONE],
    ])
  })

  it('C33: what a dead process has left is counted at what was held, once, and what this one holds stays held', async () => {
    await underTest.store.write((tx) => tx.budgets.hold('1', { tokens: 100, micros: 50 }, keys))
    const { write, read } = await underTest.reopen()
    await write((tx) => tx.budgets.hold('2', { tokens: 7, micros: 3 }, keys))
    expect(await write((tx) => tx.budgets.settleDead())).toBe(1)
    expect(await write((tx) => tx.budgets.settleDead())).toBe(0)
    expect(await read.budgets.counts([DAY])).toEqual([
      { ...DAY, spent: { tokens: 100, micros: 50 }, held: { tokens: 7, micros: 3 } },
    ])
  })

  it('C33: a warning is given once for each payer and period, and not for one that spent nothing', async () => {
    const warn = () => underTest.store.write((tx) => tx.budgets.warn(DAY))
    expect(await warn()).toBe(false)
    await underTest.store.write((tx) => tx.budgets.hold('1', { tokens: 1, micros: 1 }, keys))
    const isWarned = () => underTest.store.write((tx) => tx.budgets.isWarned(DAY))
    expect([await isWarned(), await warn(), await warn(), await isWarned()]).toEqual([false, true, false, true])
    await underTest.reopen()
    expect(await warn()).toBe(false)
  })

  it('C33: a payer takes its sums along to another name, also while a call is held', async () => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await underTest.store.write(async (tx) => {
      await tx.budgets.hold('1', { tokens: 100, micros: 50 }, keys)
      await tx.budgets.hold('2', { tokens: 5, micros: 5 }, [{ ...to, endsAt: 1_000 }])
      await tx.budgets.settle('2', { tokens: 5, micros: 5 })
      await tx.budgets.rename(DAY.payer, to.payer)
      expect(await tx.budgets.counts([to])).toMatchObject([{ held: { tokens: 100, micros: 50 } }])
      await tx.budgets.settle('1', { tokens: 30, micros: 10 })
    })
    expect(await underTest.store.read.budgets.counts([DAY, to])).toEqual([
      { ...DAY, spent: NONE, held: NONE },
      { ...to, spent: { tokens: 35, micros: 15 }, held: NONE },
    ])
  })

  it('payers of a period are listed, and deleted once it is over', async () => {
    const payersIn = (period: string) => underTest.store.read.budgets.payersIn(period, 10)
    await underTest.store.write(async (tx) => {
      await tx.budgets.hold('1', { tokens: 1, micros: 0 }, [{ payer: 'person:ada', period: 'p', endsAt: 100 }])
      await tx.budgets.hold('2', { tokens: 2, micros: 0 }, [{ payer: 'person:bob', period: 'p', endsAt: 200 }])
    })
    expect(await payersIn('p')).toEqual(['person:bob', 'person:ada'])
    expect(await payersIn('q')).toEqual([])
    expect(await underTest.store.write((tx) => tx.budgets.sweep(150, 10))).toBe(1)
    expect(await payersIn('p')).toEqual(['person:bob'])
  })

  it('payers are found by the beginning of their names, in whatever period they have sums', async () => {
    const payers = ['chat:telegram:group:-1', 'chat:telegram@work:group:-1', 'chat:slack:channel:C1', 'person:chat']
    await underTest.store.write(async (tx) => {
      for (const period of ['p', 'q'])
        for (const payer of payers)
          await tx.budgets.hold(`${payer} ${period}`, { tokens: 1, micros: 0 }, [{ payer, period, endsAt: 100 }])
    })
    const found = await underTest.store.read.budgets.payersNamed('chat:telegram')
    expect(found.toSorted()).toEqual(payers.slice(0, 2))
  })

  it('C33: the limit that a call did not fit is beside the sums, also where there are none, and goes with them', async () => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await underTest.store.write(async (tx) => {
      await tx.budgets.hold('1', { tokens: 9, micros: 9 }, [{ ...MONTH, period: DAY.period, endsAt: 1_000 }])
      await tx.budgets.miss({ ...DAY, endsAt: 1_000 }, { tokens: 5 })
    })
    const { read } = underTest.store
    expect(await read.budgets.counts([DAY])).toEqual([{ ...DAY, spent: NONE, held: NONE, missed: { tokens: 5 } }])
    expect(await read.budgets.payersIn(DAY.period, 1)).toEqual([DAY.payer])
    await underTest.store.write((tx) => tx.budgets.rename(DAY.payer, to.payer))
    expect(await read.budgets.counts([to])).toMatchObject([{ missed: { tokens: 5 } }])
    await underTest.store.write((tx) => tx.budgets.miss({ ...to, endsAt: 1_000 }, { micros: 7 }))
    expect(await read.budgets.counts([to])).toEqual([{ ...to, spent: NONE, held: NONE, missed: { micros: 7 } }])
    expect(await underTest.store.write((tx) => tx.budgets.sweep(1_001, 10))).toBe(2)
  })

  it('C33: of two limits that calls did not fit the one of the present name stays, as a whole', async () => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await underTest.store.write(async (tx) => {
      await tx.budgets.miss({ ...DAY, endsAt: 1_000 }, { tokens: 5 })
      await tx.budgets.miss({ ...to, endsAt: 1_000 }, { micros: 7 })
      await tx.budgets.rename(DAY.payer, to.payer)
    })
    expect((await underTest.store.read.budgets.counts([to]))[0]?.missed).toEqual({ micros: 7 })
  })

  it.each(['former', 'present'])('C33: whoever was warned under the %s name is not warned once more', async (name) => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await underTest.store.write(async (tx) => {
      for (const [at, key] of [DAY, to].entries())
        await tx.budgets.hold(String(at), { tokens: 1, micros: 1 }, [{ ...key, endsAt: 1_000 }])
      await tx.budgets.warn(name === 'former' ? DAY : to)
      await tx.budgets.rename(DAY.payer, to.payer)
      expect([await tx.budgets.isWarned(to), await tx.budgets.warn(to)]).toEqual([true, false])
    })
  })

  it('C33: nothing that was held under a former name is taken from what is held later', async () => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await underTest.store.write(async (tx) => {
      await tx.budgets.hold('1', { tokens: 100, micros: 50 }, keys)
      await tx.budgets.hold('2', { tokens: 100, micros: 50 }, keys)
      await tx.budgets.rename(DAY.payer, to.payer)
      for (const id of ['3', '4'])
        await tx.budgets.hold(id, { tokens: 7, micros: 3 }, [{ ...(id === '3' ? DAY : to), endsAt: 1_000 }])
      for (const id of ['1', '2']) await tx.budgets.settle(id, NONE)
    })
    const held = { tokens: 7, micros: 3 }
    expect(await underTest.store.read.budgets.counts([DAY, to])).toEqual([
      { ...DAY, spent: NONE, held },
      { ...to, spent: NONE, held },
    ])
  })

  const spend = async (tokens: number) => {
    await underTest.store.write((tx) => tx.budgets.hold('0', { tokens, micros: tokens }, keys))
    await underTest.store.write((tx) => tx.budgets.settle('0', { tokens, micros: tokens }))
  }

  it.each(["tokens = 'x'", 'tokens = 1.5', 'tokens = -5', "tokens = x'00'", 'tokens = 9e15 + 9e15'])(
    'C31: a sum that was damaged (%s) begins anew, the others of its row stay, and each later call is counted',
    async (damage) => {
      await spend(40)
      const { write, read } = await underTest.reopen(
        `UPDATE budget_counts SET ${damage}, ends_at = 'x' WHERE period = '${DAY.period}'`,
      )
      expect(await read.budgets.counts([DAY])).toEqual([{ ...DAY, spent: NONE, held: NONE }])
      expect(await read.budgets.payersIn(DAY.period, 10)).toEqual([])
      await write(async (tx) => {
        await tx.budgets.counts([DAY])
        await tx.budgets.hold('1', { tokens: 10, micros: 10 }, keys)
        await tx.budgets.settle('1', { tokens: 7, micros: 3 })
      })
      expect(await read.budgets.counts([DAY])).toEqual([{ ...DAY, spent: { tokens: 7, micros: 43 }, held: NONE }])
      expect(await write((tx) => tx.budgets.sweep(1_001, 10))).toBe(1)
      expect(JSON.stringify(underTest.warnings)).toContain('budget_counts')
    },
  )

  it('C31: a damaged sum is mended also when its payer gets another name, with what is held', async () => {
    const to = { ...DAY, payer: 'chat:telegram:group:-2' }
    await spend(40)
    const { write, read } = await underTest.reopen("UPDATE budget_counts SET micros = 'x', held_micros = 0.5")
    await write((tx) => tx.budgets.hold('1', { tokens: 10, micros: 10 }, keys))
    await write((tx) => tx.budgets.rename(DAY.payer, to.payer))
    expect(await read.budgets.counts([to])).toEqual([
      { ...to, spent: { tokens: 40, micros: 0 }, held: { tokens: 10, micros: 10 } },
    ])
  })

  it.each([
    "held = '{broken'",
    "held = '5'",
    "held = '{}'",
    `held = '{"keys":[null]}'`,
    "tokens = 'x'",
    "id = x'00'",
    'epoch = 0.5',
  ])(
    'C31: a hold that a dead process left and that was damaged (%s) is counted too, and keeps the daemon from no start',
    async (damage) => {
      await underTest.store.write((tx) => tx.budgets.hold('1', { tokens: 100, micros: 50 }, keys))
      const { write, read } = await underTest.reopen(`UPDATE budget_holds SET ${damage}`)
      expect(await write((tx) => tx.budgets.settleDead())).toBe(1)
      const spent = { tokens: 100, micros: 50 }
      expect(await read.budgets.counts([DAY, MONTH])).toEqual([
        { ...DAY, spent, held: NONE },
        { ...MONTH, spent, held: NONE },
      ])
    },
  )
}
