import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Amount, BudgetSettings, Charge } from '../../src/core/budget.ts'
import { errorCode } from '../../src/core/errors.ts'
import { mulberry } from '../faults/random.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { type Rig, settingsOf, startRig } from './rig.ts'

removeTempFolders()

const LIMIT = 2_000
const HOUR = 3_600_000
const cost = (tokens: number): Amount => ({ tokens, micros: tokens * 2 })
const settings = (timezone: string): BudgetSettings =>
  settingsOf({ timezone, total: { day: { tokens: LIMIT }, month: { micros: LIMIT * 5 } } })

/** All rows, with what is spent and held. */
async function rows({ store }: Rig) {
  const periods = [...Array(40).keys()].flatMap((day) => {
    const iso = new Date(Date.parse('2026-10-01T12:00:00Z') + day * 24 * HOUR).toISOString()
    return [iso.slice(0, 10), iso.slice(0, 7)]
  })
  const counts = await store.read.budgets.counts([...new Set(periods)].map((period) => ({ payer: 'total:', period })))
  return counts.map(({ period, spent, held }) => ({ period, spent, held }))
}

/** Returns the periods in which more is used than there is. */
async function beyond(rig: Rig): Promise<readonly unknown[]> {
  return (await rows(rig)).filter(({ period, spent, held }) =>
    period.length === 10 ? spent.tokens + held.tokens > LIMIT : spent.micros + held.micros > LIMIT * 5,
  )
}

/** Fifty people who ask again and again, some of whom lose patience; each call costs what it may, or less, or nothing. */
async function everybodyAsks(rig: Rig, charge: Charge, random: () => number): Promise<Map<string, number>> {
  const ended = new Map<string, number>()
  const count = (what: string): unknown => ended.set(what, (ended.get(what) ?? 0) + 1)
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      for (let turn = 0; turn < 4; turn++) {
        const most = 50 + Math.floor(random() * 400)
        const patience = random() < 0.2 ? AbortSignal.timeout(Math.floor(random() * 30)) : new AbortController().signal
        try {
          const call = await rig.gate.hold({ charge, cost: cost(most) }, patience)
          await pause(random() * 20)
          await rig.gate.settle(call, cost(Math.floor(most * random())))
          count('made')
        } catch (error) {
          count(errorCode(error))
        }
      }
    }),
  )
  return ended
}

describe('50 people side by side', () => {
  // The day on which summer time ends has 25 hours; a month ends a week later.
  it.each([
    ['Europe/Berlin', '2026-10-25T00:30:00Z'],
    ['Africa/Cairo', '2026-10-29T20:30:00Z'],
    ['Pacific/Apia', '2026-10-31T09:30:00Z'],
    ['UTC', '2026-10-31T23:30:00Z'],
  ])(
    'C33: in %s no day and no month has more than its limit, wherever the clock is set, and nobody waits for ever',
    async (zone, start) => {
      const rig = await startRig(settings(zone))
      const random = mulberry(33)
      rig.clock.set(Date.parse(start))
      const stopped = new AbortController()
      const broken: unknown[] = []
      const setting = (async () => {
        while (!stopped.signal.aborted) {
          await pause(5)
          broken.push(...(await beyond(rig)))
          const by = random()
          if (by < 0.4) rig.clock.set(rig.clock.now() + random() * 2 * HOUR)
          else if (by < 0.5) rig.clock.set(rig.clock.now() - random() * 30 * HOUR)
          else if (by < 0.55) rig.clock.set(rig.clock.now() + 25 * HOUR)
        }
      })()
      const ended = await everybodyAsks(rig, rig.charge, random)
      stopped.abort()
      await setting
      expect((await rows(rig)).filter(({ held }) => held.tokens !== 0 || held.micros !== 0)).toEqual([])
      expect([...broken, ...(await beyond(rig))]).toEqual([])
      expect(ended.get('made')).toBeGreaterThan(10)
      expect([...ended.keys()].filter((what) => !['made', 'budget_spent', 'aborted'].includes(what))).toEqual([])
    },
  )

  it('C33: a limit that is lowered below what is held stops the next call, and those under way end', async () => {
    const rig = await startRig(settings('UTC'))
    const { gate, charge } = rig
    const signal = new AbortController().signal
    const calls = await Promise.all([1, 2, 3].map(() => gate.hold({ charge, cost: cost(600) }, signal)))
    const [day] = charge.shared
    const lowered: Charge = { shared: day ? [{ ...day, limit: { tokens: 1_000 } }] : [], askers: [] }
    const waits = gate.hold({ charge: lowered, cost: cost(500) }, signal).catch(errorCode)
    const [first, second, third] = calls
    if (!first || !second || !third) throw new Error('not held')
    await gate.settle(first, cost(300))
    await gate.settle(second, cost(300))
    await gate.settle(third, cost(0))
    // 600 are spent: 500 more are too much of 1,000, whoever has waited.
    expect(await waits).toBe('budget_spent')
    const last = await gate.hold({ charge: lowered, cost: cost(400) }, signal)
    await gate.settle(last, cost(400))
    await expect(gate.hold({ charge: lowered, cost: cost(1) }, signal)).rejects.toMatchObject({ code: 'budget_spent' })
  })
})
