import { expect, it, vi } from 'vitest'
import type { BudgetState, Charge, PayerKind } from '../../src/core/budget.ts'
import { createIdSource } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createEvents } from '../../src/daemon/daemon-events.ts'
import { tellOfBudgets } from '../../src/daemon/tell-of-budgets.ts'
import type { Store } from '../../src/store/store.ts'
import { settingsOf, startRig } from '../budgets/rig.ts'

const CHARGE: Charge = { shared: [], askers: [] }

const budget = (kind: PayerKind, no: number): BudgetState => ({
  ...{ payer: { kind, id: `telegram:${no}` }, period: 'day', limit: { tokens: 100 }, at: '2026-11-26' },
  ...{ resetsAt: Date.parse('2026-11-27'), used: { tokens: 90, micros: 0 } },
})

/** The notices of budgets on a store of their own, without an account to say them by: their marks are made. */
async function open() {
  const { store } = await startRig(settingsOf())
  const events = createEvents()
  const counting = { ...store, commits: 0 }
  counting.write = ((body) => {
    counting.commits++
    return store.write(body)
  }) as Store['write']
  tellOfBudgets(
    { settings: settingsOf(), placeOf: () => undefined },
    {
      ...{ store: counting, ids: createIdSource({ now: Date.now, randomBytes: (n) => Buffer.alloc(n) }) },
      ...{ logger: silentLogger, events, say: async () => {}, notifyOwners: async () => true, where: undefined },
    },
  )
  const past = (kind: PayerKind, no: number) =>
    events.budget.emit({ kind: 'past', budget: budget(kind, no), charge: CHARGE })
  return { counting, past }
}

it('a budget that was told of costs no further commit, until those of a thousand others were', async () => {
  const { counting, past } = await open()
  past('person', 0)
  await vi.waitFor(() => expect(counting.commits).toBe(2))
  past('person', 0)
  for (let no = 1; no <= 1_000; no++) past('person', no)
  await vi.waitFor(() => expect(counting.commits).toBe(2 * 1_001))
  past('person', 0)
  await vi.waitFor(() => expect(counting.commits).toBe(2 * 1_001 + 1))
})

it('a budget of a stranger costs no commit, and makes no other forgotten', async () => {
  const { counting, past } = await open()
  past('person', 0)
  for (let no = 0; no <= 2_000; no++) past('stranger', no)
  past('person', 0)
  await vi.waitFor(() => expect(counting.commits).toBe(2))
})
