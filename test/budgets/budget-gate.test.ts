import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/core/errors.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { NOON, settingsOf, startRig } from './rig.ts'

removeTempFolders()

const signal = new AbortController().signal
const cost = (tokens: number) => ({ tokens, micros: 0 })
const LIMIT = 1_000

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
