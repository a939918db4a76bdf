import { expect, it } from 'vitest'
import { amountOf, mostOf, promptTokens } from '../../src/budgets/estimate.ts'
import type { ModelPrice } from '../../src/core/budget.ts'
import { QUESTION } from './rig.ts'

const PRICE: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const PRICED = { price: PRICE, picture: 0 }

it('C33: the most that a call may cost has its prompt written to a cache where that costs more', () => {
  const input = promptTokens(QUESTION, 0)
  const most = mostOf(QUESTION, PRICED)
  expect(most.micros).toBe(amountOf({ input: 0, output: QUESTION.maxTokens, cacheWrite: input }, PRICE).micros)
  expect(most.micros).toBeGreaterThan(amountOf({ input, output: QUESTION.maxTokens }, PRICE).micros)
  const { cacheWrite: _none, ...plain } = PRICE
  expect(mostOf(QUESTION, { ...PRICED, price: plain }).micros).toBe(
    amountOf({ input, output: QUESTION.maxTokens }, plain).micros,
  )
})

it('C33: the most that a call may cost has all that the model may think beside its answer', () => {
  const thinking = mostOf({ ...QUESTION, thinking: 'high' }, PRICED)
  expect(thinking.tokens - mostOf(QUESTION, PRICED).tokens).toBe(16_384)
})

it('C33: a prompt has the thoughts of the steps before, which a provider is given and charges again', () => {
  const calls = [{ id: '1', name: 'time', args: {} }]
  const after = (tokens: number) => {
    const step = { role: 'assistant', text: '', calls, opaque: { model: 'some/model', tokens, data: [] } } as const
    return promptTokens({ ...QUESTION, messages: [...QUESTION.messages, step] }, 0)
  }
  expect(after(9_000) - after(0)).toBe(9_000)
})
