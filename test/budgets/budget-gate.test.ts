import { describe, expect, it } from 'vitest'
import { budgetsOf } from '../../src/budgets/applying.ts'
import { statesOf } from '../../src/budgets/states.ts'
import { payerKey } from '../../src/core/budget.ts'
import { errorCode } from '../../src/core/errors.ts'
import type { ChannelId } from '../../src/core/ids.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { NOON, type Rig, settingsOf, startRig } from './rig.ts'

removeTempFolders()

const signal = new AbortController().signal
const cost = (tokens: number) => ({ tokens, micros: 0 })
const LIMIT = 1_000

/** Resolves once everybody who was to hold something has looked whether it fits. */
const looked = (rig: Rig): Promise<void> => rig.store.write(async () => {})

const daily = (tokens: number) => settingsOf({ total: { day: { tokens } } })

describe('calls side by side', () => {
  it('C33: 50 never pass the limit together, and nobody is stopped while others may cost less than they hold', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge } = rig
    let [running, most] = [0, 0]
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        try {
          const call = await gate.hold({ charge, cost: cost(100) }, new AbortController().signal)
          most = Math.max(most, ++running)
          expect((await rig.spent()).spent).toBeLessThanOrEqual(LIMIT)
          running--
          await gate.settle(call, cost(30))
          return 'made'
        } catch (error) {
          return errorCode(error)
        }
      }),
    )
    // One more would have passed it, had it cost as much as it might.
    const { spent, held } = await rig.spent()
    expect(spent).toBeGreaterThan(LIMIT - 100)
    expect(spent).toBeLessThanOrEqual(LIMIT)
    expect(held).toBe(0)
    expect(most).toBeLessThanOrEqual(LIMIT / 100)
    expect(outcomes.filter((one) => one === 'made')).toHaveLength(spent / 30)
    expect(outcomes.filter((one) => one === 'budget_spent')).toHaveLength(50 - spent / 30)
  })

  it('C33: one that waits for others is ended by its signal, and holds nothing', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge } = rig
    await gate.hold({ charge, cost: cost(LIMIT) }, signal)
    const stopping = new AbortController()
    const waiting = gate.hold({ charge, cost: cost(1) }, stopping.signal)
    stopping.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
    expect(await rig.spent()).toMatchObject({ spent: 0, held: LIMIT })
  })
})

it.each(['before', 'while'] as const)(
  'C33: a call that is stopped %s its cost is put on record is not made, and costs nothing',
  async (when) => {
    const rig = await startRig(daily(LIMIT))
    const stop = new AbortController()
    if (when === 'before') stop.abort()
    const held = rig.gate.hold({ charge: rig.charge, cost: cost(600) }, stop.signal)
    stop.abort()
    await expect(held).rejects.toMatchObject({ code: 'aborted' })
    expect(await rig.spent()).toMatchObject({ spent: 0, held: 0 })
  },
)

it('C33: a call that waits looks again within a minute: somebody may have set the clock into the next day', async () => {
  const rig = await startRig(daily(LIMIT))
  const { gate, charge, clock } = rig
  await gate.hold({ charge, cost: cost(LIMIT) }, signal)
  const looks: { readonly ms: number; readonly run: () => void }[] = []
  clock.after = (ms, run) => {
    looks.push({ ms, run })
    return () => {}
  }
  const waiting = gate.hold({ charge, cost: cost(1) }, signal)
  await expect.poll(() => looks).toMatchObject([{ ms: 60_000 }])
  clock.set(NOON + 86_400_000)
  looks[0]?.run()
  expect(await waiting).toMatchObject({ model: 'own' })
})

it('C33: a budget is not noted as used up by the call that stands in for the cheaper model', async () => {
  const rig = await startRig(daily(LIMIT))
  const missed = async () =>
    (await rig.store.read.budgets.counts([{ payer: 'total:', period: '2026-11-26' }]))[0]?.missed
  const wanted = { charge: rig.charge, cost: cost(LIMIT + 1) }
  const failure = new Error('The cheaper model fails.')
  await expect(rig.gate.hold({ ...wanted, failure }, signal)).rejects.toBe(failure)
  expect(await missed()).toBeUndefined()
  await expect(rig.gate.hold(wanted, signal)).rejects.toMatchObject({ code: 'budget_spent' })
  expect(await missed()).toEqual({ tokens: LIMIT })
})

it('C33: what is held for the cheaper model is what that one may cost', async () => {
  const rig = await startRig(daily(LIMIT))
  const call = await rig.gate.hold({ charge: rig.charge, cost: cost(LIMIT + 1), cheaper: cost(10) }, signal)
  expect(call.model).toBe('cheaper')
  expect(await rig.spent()).toMatchObject({ spent: 0, held: 10 })
})

it('C33: a budget that was used up is so no more once it has another limit', async () => {
  const rig = await startRig(daily(LIMIT))
  await rig.gate.hold({ charge: rig.charge, cost: cost(LIMIT + 1) }, signal).catch(errorCode)
  const missed = async (tokens: number) => {
    const budgets = budgetsOf(daily(tokens), { kind: 'total', id: '' })
    const [state] = await statesOf(rig.store.read.budgets, budgets, { timezone: 'UTC', now: NOON })
    return state?.missed
  }
  expect([await missed(LIMIT), await missed(2 * LIMIT)]).toEqual([true, false])
})

describe('a cost that the store does not take', () => {
  const REFUSE = `CREATE TRIGGER refuse BEFORE DELETE ON budget_holds BEGIN SELECT RAISE(ABORT, 'refused'); END`

  it('C33: goes with the next commit: nobody waits for it, and nothing stays held', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge } = rig
    const call = await gate.hold({ charge, cost: cost(LIMIT) }, signal)
    rig.execute(REFUSE)
    await gate.settle(call, cost(30))
    expect(rig.notTaken).toHaveLength(1)
    expect(await rig.spent()).toMatchObject({ spent: 0, held: LIMIT })
    rig.execute('DROP TRIGGER refuse')
    const next = await gate.hold({ charge, cost: cost(100) }, signal)
    expect(await rig.spent()).toMatchObject({ spent: 30, held: 100 })
    await gate.settle(next, cost(70))
    expect(await rig.spent()).toMatchObject({ spent: 100, held: 0 })
  })

  it('C33: wakes those who wait: they get what ails the store, or their call', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge } = rig
    const calls = [
      await gate.hold({ charge, cost: cost(500) }, signal),
      await gate.hold({ charge, cost: cost(500) }, signal),
    ]
    const waits = (): Promise<unknown> => gate.hold({ charge, cost: cost(800) }, signal).catch(errorCode)
    const [one, other] = [waits(), waits()]
    await looked(rig)
    rig.execute(REFUSE)
    await Promise.all(calls.map((call) => gate.settle(call, cost(100))))
    expect(await Promise.all([one, other])).toEqual(['invalid', 'invalid'])
    rig.execute('DROP TRIGGER refuse')
    await expect(waits()).resolves.toMatchObject({ model: 'own' })
    expect(await rig.spent()).toMatchObject({ spent: 200, held: 800 })
  })

  it('C33: is counted at what was held where the process dies before', async () => {
    const rig = await startRig(daily(LIMIT))
    const call = await rig.gate.hold({ charge: rig.charge, cost: cost(400) }, signal)
    rig.execute(REFUSE)
    await rig.gate.settle(call, cost(30))
    rig.execute('DROP TRIGGER refuse')
    await rig.reopen()
    expect(await rig.gate.recover()).toBe(1)
    expect(await rig.spent()).toMatchObject({ spent: 400, held: 0 })
  })
})

describe('the end of a period', () => {
  it('C33: lets the calls go on that wait for others of the period before', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge, clock } = rig
    const midnight = NOON + 12 * 3_600_000
    clock.set(midnight - 40)
    const long = await gate.hold({ charge, cost: cost(LIMIT) }, signal)
    const waiting = gate.hold({ charge, cost: cost(LIMIT) }, signal)
    const other = gate.hold({ charge, cost: cost(LIMIT) }, signal)
    await looked(rig)
    clock.set(midnight)
    const first = await Promise.race([waiting, other])
    expect(first.budgets).toMatchObject([{ at: '2026-11-27' }])
    await gate.settle(long, cost(10))
    await gate.settle(first, cost(0))
    for (const call of await Promise.all([waiting, other])) await gate.settle(call, cost(0))
    expect(await rig.spent()).toMatchObject({ spent: 10, held: 0 })
  })
})

describe('a chat that moves', () => {
  it('F-C07: during a turn has the limit that it had, and what it has spent and holds', async () => {
    const rig = await startRig(settingsOf({ chat: { each: { day: { tokens: LIMIT } } } }))
    const channel = 'telegram' as ChannelId
    const payerOf = (chat: string) => ({ kind: 'chat', id: `telegram:group:${chat}` }) as const
    const charge = { shared: [{ payer: payerOf('-1'), period: 'day', limit: { tokens: LIMIT } }], askers: [] } as const
    const { gate, store, clock } = rig
    const held = await gate.hold({ charge, cost: cost(400) }, signal)
    await gate.settle(await gate.hold({ charge, cost: cost(300) }, signal), cost(300))
    await store.write(async (tx) => {
      await tx.chatMoves.add({ channel, from: '-1', to: '-2' }, clock.now())
      await tx.budgets.rename(payerKey(payerOf('-1')), payerKey(payerOf('-2')))
    })
    await expect(gate.hold({ charge, cost: cost(701) }, signal)).rejects.toMatchObject({ code: 'budget_spent' })
    const next = await gate.hold({ charge, cost: cost(300) }, signal)
    await gate.settle(held, cost(400))
    await gate.settle(next, cost(300))
    const [before, after] = await store.read.budgets.counts(
      ['-1', '-2'].map((chat) => ({ payer: payerKey(payerOf(chat)), period: '2026-11-26' })),
    )
    expect([before, after]).toMatchObject([
      { spent: { tokens: 0 }, held: { tokens: 0 } },
      { spent: { tokens: 1_000 }, held: { tokens: 0 } },
    ])
    expect(rig.past.map(({ payer }) => payer.id)).toContain('telegram:group:-2')
  })
})

describe('a process that died', () => {
  it('C33: what it held counts as spent at the next start, and the limit holds over any number of kills', async () => {
    const rig = await startRig(daily(LIMIT))
    let made = 0
    for (let life = 0; life < 6; life++) {
      await rig.gate.recover()
      for (let call = 0; call < 2; call++) {
        const held = await rig.gate.hold({ charge: rig.charge, cost: cost(100) }, signal).catch(errorCode)
        if (held !== 'budget_spent') made++
      }
      await rig.reopen()
    }
    await rig.gate.recover()
    expect(made).toBe(10)
    expect(await rig.spent()).toMatchObject({ spent: LIMIT, held: 0 })
  })
})

describe('people are notified', () => {
  it('C33: of each call beyond the warning and of each stop; a new day begins anew', async () => {
    const rig = await startRig(daily(LIMIT))
    const { gate, charge, clock } = rig
    const spend = async (tokens: number) =>
      gate.settle(await gate.hold({ charge, cost: cost(tokens) }, signal), cost(tokens))
    await spend(799)
    expect(rig.past).toEqual([])
    await spend(1)
    expect(rig.past).toMatchObject([{ payer: { kind: 'total' }, at: '2026-11-26', used: { tokens: 800 } }])
    await expect(spend(201)).rejects.toMatchObject({ code: 'budget_spent', hit: { resetsAt: NOON + 12 * 3_600_000 } })
    expect(rig.stopped).toHaveLength(1)
    clock.set(NOON + 12 * 3_600_000)
    await spend(201)
    expect(rig.past).toHaveLength(1)
    // A call that began before midnight is counted for the day that it began in.
    clock.set(NOON + 36 * 3_600_000 - 1)
    const late = await gate.hold({ charge, cost: cost(500) }, signal)
    clock.set(NOON + 36 * 3_600_000)
    await gate.settle(late, cost(400))
    const [day, next] = await rig.store.read.budgets.counts([
      { payer: 'total:', period: '2026-11-27' },
      { payer: 'total:', period: '2026-11-28' },
    ])
    expect([day?.spent.tokens, next?.spent.tokens]).toEqual([601, 0])
  })
})
