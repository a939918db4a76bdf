import { expect, it } from 'vitest'
import { budgetsOf, hasBudgets, presentBudgets } from '../../src/budgets/applying.ts'
import { underPresentNames } from '../../src/budgets/budget-gate.ts'
import { chargeFor } from '../../src/budgets/charge.ts'
import { parseAddress } from '../../src/core/address.ts'
import type { BudgetConfig } from '../../src/core/budget.ts'

const of = (tokens: number) => ({ day: { tokens } })
const settings = (rules: object): BudgetConfig => rules as BudgetConfig
const ADDRESS = parseAddress('telegram:group:-1/7')
const ASKED = { address: ADDRESS, askers: [], strangers: false } as const

const limits = (rules: object, changes: object = {}): readonly (number | undefined)[] =>
  (chargeFor(settings(rules), { ...ASKED, ...changes })?.shared ?? []).map(({ limit }) => limit.tokens)

it('C33: what is said in a topic is charged to the topic and to its chat', () => {
  expect(limits({ chat: { each: of(1) }, topic: { each: of(2) } })).toEqual([1, 2])
  expect(limits({ chat: { each: of(1) } }, { address: parseAddress('telegram:group:-1') })).toEqual([1])
})

it('C33: a budget of one chat counts in the place of that of each, also where it sets no limit', () => {
  const chat = { each: of(1), only: { 'telegram:group:-1': of(5), 'telegram:group:-2': undefined } }
  const chatBudget = (id: string) =>
    budgetsOf(settings({ chat }), { kind: 'chat', id }).map(({ limit }) => limit.tokens)
  expect(chatBudget('telegram:group:-1')).toEqual([5])
  expect(chatBudget('telegram:group:-2')).toEqual([])
  expect(chatBudget('telegram:group:-3')).toEqual([1])
})

it('C33: clients pay for strangers alone', () => {
  const rules = { strangers: { client: of(3), together: of(4) } }
  expect(limits(rules, { strangers: true, clients: ['app'] })).toEqual([3, 4])
  expect(limits(rules, { strangers: false, clients: ['app'] })).toEqual([])
})

it('C33: where nobody who asked has a budget and nothing is shared, a call is charged to nobody', () => {
  const rules = settings({ person: { each: of(1) } })
  expect(chargeFor(rules, ASKED)).toBeUndefined()
  const charge = chargeFor(rules, { ...ASKED, askers: [{ kind: 'person', id: 'ada' }] })
  expect(charge?.askers).toMatchObject([[{ limit: { tokens: 1 } }]])
})

it('C33: a chat that got a new id keeps its budget, and one that the file has for the new id counts more', () => {
  const moves = [{ channel: 'telegram', from: '-1', to: '-100' }]
  const present = (only: object) => presentBudgets(settings({ chat: { only } }), moves as never).chat?.only
  expect(present({ 'telegram:group:-1': of(1) })).toMatchObject({ 'telegram:group:-100': of(1) })
  const both = { 'telegram:group:-100': of(2), 'telegram:group:-1': of(1) }
  expect(present(both)).toMatchObject({ 'telegram:group:-100': of(2) })
})

it('C33: payers of a kind are looked up where one of them may have a budget', () => {
  expect(hasBudgets(settings({ strangers: { each: of(1) } }), 'stranger')).toBe(true)
  for (const kind of ['total', 'client', 'strangers', 'chat'] as const)
    expect(hasBudgets(settings({ strangers: { each: of(1) } }), kind)).toBe(false)
})

it('C33: a group and its topics are charged under the id that the group has now, a direct chat under its own', async () => {
  const moves = { movedTo: async () => '-100' }
  const names = async (kind: 'chat' | 'topic' | 'person', id: string) =>
    (await underPresentNames(moves, [{ payer: { kind, id }, period: 'day', limit: {} }])).map(({ payer }) => payer.id)
  expect(await names('chat', 'telegram:group:-1')).toEqual(['telegram:group:-100'])
  expect(await names('topic', 'telegram:group:-1/7')).toEqual(['telegram:group:-100/7'])
  expect(await names('chat', 'telegram:direct:111')).toEqual(['telegram:direct:111'])
  expect(await names('person', 'ada')).toEqual(['ada'])
})

it('C33: the limit of each is that of a person with any name', () => {
  const rules = settings({ person: { each: of(5), only: {} } })
  for (const id of ['ada', 'constructor', 'toString'])
    expect(budgetsOf(rules, { kind: 'person', id })).toMatchObject([{ period: 'day', limit: { tokens: 5 } }])
})
