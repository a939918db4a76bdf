import { describe, expect, it } from 'vitest'
import { type BudgetNow, decideCall } from '../../src/budgets/decide-call.ts'
import type { Amount, Limit, Payer } from '../../src/core/budget.ts'

const amount = (tokens: number, micros = 0): Amount => ({ tokens, micros })

function budget(
  limit: Limit,
  spent: Amount,
  more: { held?: number; payer?: Payer; resetsAt?: number } = {},
): BudgetNow {
  const { held = 0, payer = { kind: 'total', id: '' }, resetsAt = 100 } = more
  const used = amount(spent.tokens + held, spent.micros)
  return { payer, period: 'day', limit, at: '2026-11-26', resetsAt, spent, used, missed: false }
}

const ADA: Payer = { kind: 'person', id: 'ada' }
const BOB: Payer = { kind: 'person', id: 'bob' }
const rest = { askers: [], warnAt: 0.8 }

describe('whether a call fits', () => {
  it.each([
    ['exactly', budget({ tokens: 100 }, amount(60)), 40, 'call'],
    ['not by one token', budget({ tokens: 100 }, amount(61)), 40, 'stop'],
    ['in money', budget({ micros: 100 }, amount(0, 60)), 40, 'call'],
    ['not in money', budget({ micros: 100 }, amount(0, 61)), 40, 'stop'],
    ['in one of the two alone', budget({ tokens: 1_000, micros: 100 }, amount(0, 61)), 40, 'stop'],
    ['once others have cost less than they might', budget({ tokens: 100 }, amount(10), { held: 60 }), 40, 'wait'],
    ['not even then', budget({ tokens: 100 }, amount(70), { held: 10 }), 40, 'stop'],
  ])('C33: %s', (_, one, cost, kind) => {
    expect(decideCall({ ...rest, shared: [one], cost: amount(cost, cost) }).kind).toBe(kind)
  })

  it('C33: every budget must have room, and the one that begins anew last is named', () => {
    const shared = [
      budget({ tokens: 100 }, amount(100), { resetsAt: 10 }),
      budget({ tokens: 100 }, amount(0), { resetsAt: 30 }),
      budget({ tokens: 200 }, amount(199), { resetsAt: 20 }),
    ]
    expect(decideCall({ ...rest, shared, cost: amount(5) })).toMatchObject({
      kind: 'stop',
      hit: { resetsAt: 20 },
      tooSmall: false,
    })
  })

  it('C33: a limit that is less than one call is named as that', () => {
    const shared = [budget({ tokens: 4 }, amount(0))]
    expect(decideCall({ ...rest, shared, cost: amount(5) })).toMatchObject({ kind: 'stop', tooSmall: true })
  })

  it('C33: the newest of the askers who has something left pays, and nobody else is stopped by one who has nothing', () => {
    const ada = [budget({ tokens: 100 }, amount(100), { payer: ADA })]
    const bob = [budget({ tokens: 100 }, amount(0), { payer: BOB })]
    const ask = (...askers: (readonly BudgetNow[])[]) =>
      decideCall({ warnAt: 0.8, shared: [], askers, cost: amount(5) })
    expect(ask(bob, ada)).toMatchObject({ kind: 'call', asker: 0 })
    expect(ask(ada, bob)).toMatchObject({ kind: 'call', asker: 1 })
    expect(ask(ada, [])).toMatchObject({ kind: 'call', asker: 1 })
    expect(ask(ada, ada)).toMatchObject({ kind: 'stop', hit: { payer: ADA } })
    const held = [budget({ tokens: 100 }, amount(0), { payer: BOB, held: 100 })]
    expect(ask(ada, held)).toEqual({ kind: 'wait' })
  })
})

describe('the cheaper model', () => {
  const ask = (spent: number, cheaper?: number) =>
    decideCall({
      ...{ ...rest, shared: [budget({ micros: 1_000 }, amount(0, spent))], cost: amount(1, 300) },
      ...(cheaper === undefined ? {} : { cheaper: amount(1, cheaper) }),
    })

  it('C33: answers between the warning and the stop', () => {
    expect(ask(0, 30)).toMatchObject({ kind: 'call', model: 'own' })
    expect(ask(799, 30)).toMatchObject({ kind: 'call', model: 'cheaper' })
    expect(ask(800, 30)).toMatchObject({ kind: 'call', model: 'cheaper' })
    expect(ask(970, 30)).toMatchObject({ kind: 'call', model: 'cheaper' })
    expect(ask(971, 30)).toMatchObject({ kind: 'stop' })
  })

  it.each(['tokens', 'micros'] as const)('C33: is asked from the very share of the %s on', (unit) => {
    const asked = (spent: number) =>
      decideCall({
        ...{ ...rest, shared: [budget({ [unit]: 1_000 }, amount(spent, spent))], cost: amount(5, 5) },
        cheaper: amount(1, 1),
      })
    expect(asked(799)).toMatchObject({ kind: 'call', model: 'own' })
    expect(asked(800)).toMatchObject({ kind: 'call', model: 'cheaper' })
  })

  it('C33: is waited for where it fits once others have cost less, though the own model never does', () => {
    const shared = [budget({ tokens: 100 }, amount(10), { held: 80 })]
    expect(decideCall({ ...rest, shared, cost: amount(120), cheaper: amount(30) })).toEqual({ kind: 'wait' })
    expect(decideCall({ ...rest, shared, cost: amount(120) })).toMatchObject({ kind: 'stop', tooSmall: true })
  })

  it('C33: is not asked where there is none', () => {
    expect(ask(700)).toMatchObject({ kind: 'call', model: 'own' })
    expect(ask(701)).toMatchObject({ kind: 'stop' })
  })
})
