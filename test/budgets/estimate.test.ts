import { expect, it } from 'vitest'
import { amountOf, mostOf, promptTokens } from '../../src/budgets/estimate.ts'
import type { ModelPrice } from '../../src/core/budget.ts'
import { EMPTY_VIEW, extendView, requestMessages } from '../../src/sessions/view/model-view.ts'
import { agentWith, call, fakeModel, never, play, tool, turnRequest } from '../agent/turns.ts'
import { eventLog } from '../fakes/session-events.ts'
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

const LIMITS = { turns: 50, dropTurns: 1, contextMessages: 50, contextCharacters: 9_000 }

it('C19, C33: a turn that continues after a crash is estimated with the thoughts of its steps, as one without a crash is', async () => {
  const opaque = { model: 'fake/model', tokens: 9_000, data: [{ signature: 's' }] }
  const model = fakeModel(
    { calls: [call('a', 'clock')], opaque },
    { calls: [call('b', 'clock')], opaque: { ...opaque, tokens: 70 } },
    { deltas: ['late'] },
  )
  const agent = agentWith(model, [tool('clock')])
  const log = eventLog()
  log.user('hello')
  log.started('t1')
  const request = () => {
    const { messages, open } = requestMessages(extendView(EMPTY_VIEW, log.events, 'direct', LIMITS), 'direct')
    return turnRequest({ messages, open })
  }
  const { journal } = await play(agent(request(), never()))
  const whole = model.requests.at(-1)
  for (const event of journal) log.add(JSON.parse(JSON.stringify(event)), 't1')
  await play(agent(request(), never()))
  const resumed = model.requests.at(-1)
  expect(model.requests).toHaveLength(4)
  expect(resumed && promptTokens(resumed, 0)).toBe(whole && promptTokens(whole, 0))
  const { messages = [] } = resumed ?? {}
  const plain = messages.map((one) => ({ ...one, opaque: undefined }))
  expect(promptTokens({ ...QUESTION, messages }, 0) - promptTokens({ ...QUESTION, messages: plain as never }, 0)).toBe(
    9_070,
  )
})
