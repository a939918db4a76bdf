import { expect, it } from 'vitest'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { toAgentId, toPersonId } from '../../src/core/ids.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type ApiHouse, startApiHouse } from './api-house.ts'
import { setClock } from './set-clock.ts'

const usage = { input_tokens: 450, output_tokens: 50 }
const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', tools: [], answerTokens: 100 },
]
const MUCH = { day: { tokens: 1_000_000 } }
const prices = { 'anthropic/rehearsal': { input: 1, output: 1 } }

/** Anybody may write. Each answer costs 500 tokens. */
function startHouse(strangers: BudgetConfig['strangers']): Promise<ApiHouse> {
  return startApiHouse({
    ...{ script: () => textReply('fine', { usage }), streaming: false, clock: setClock('2026-11-26T12:00:00Z') },
    routing: { people: [{ id: toPersonId('bob'), role: 'member', ids: ['api:bob'] }] },
    config: { agents, budgets: { timezone: 'UTC', warnAt: 0.8, prices, ...(strangers && { strangers }) } },
  })
}

async function asker(house: ApiHouse, namespace: string) {
  const { headers } = await house.bearer({ namespace, scopes: ['sessions:write', 'chat'] })
  return {
    async post(user: string) {
      const [path, sender] = [`/v1/sessions/${namespace}%3A${user}/messages`, `${namespace}:${user}`]
      const { json } = await house.ask(path, { headers, body: { text: 'hello', sender } })
      return (json as { readonly status: string }).status
    },
    async chat() {
      const body = { model: 'main', messages: [{ role: 'user', content: 'hello' }] }
      return (await house.ask('/v1/chat/completions', { headers, body })).status
    },
  }
}

async function answered(times: number, ask: () => Promise<string | number>): Promise<(string | number)[]> {
  const all: (string | number)[] = []
  for (let time = 0; time < times; time++) all.push(await ask())
  return all
}

it('C33, S42: whoever a token speaks for and nobody let in has the budget of a stranger, and others have theirs', async () => {
  const house = await startHouse({ each: { day: { tokens: 1_600 } }, client: MUCH, together: MUCH })
  const { post, chat } = await asker(house, 'api')
  expect(await answered(5, () => post('eve'))).toEqual(['ok', 'ok', 'ok', 'error', 'error'])
  expect(await post('fay')).toBe('ok')
  expect(await answered(6, () => post('bob'))).toEqual(Array(6).fill('ok'))
  expect(await answered(4, chat)).toEqual([200, 200, 200, 402])
})

it('C33, S42: those for whom the tokens of one namespace speak have a budget together, whatever they are called', async () => {
  const house = await startHouse({ each: MUCH, client: { day: { tokens: 1_600 } }, together: MUCH })
  const [first, second, other] = [await asker(house, 'api'), await asker(house, 'api'), await asker(house, 'web')]
  let user = 0
  expect(await answered(4, () => first.post(`user-${++user}`))).toEqual(['ok', 'ok', 'ok', 'error'])
  expect([await second.post('another'), await first.chat(), await other.post('eve')]).toEqual(['error', 402, 'ok'])
  expect(await first.post('bob')).toBe('ok')
  const { budgets } = await house.daemon.operator.status()
  expect(budgets?.map(({ words }) => words)).toContainEqual(expect.stringContaining('strangers of api, day'))
})
