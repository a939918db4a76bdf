import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { type LogFields, type Logger, silentLogger } from '../../src/core/logger.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startApiHouse } from '../e2e/api-house.ts'
import { toolResult } from '../e2e/obedient.ts'
import { fakeOperator } from '../fakes/operator.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { apiRig } from './rig.ts'

const ADA = policy({ people: [owner('ada', 'telegram:111')] })

const paying: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  if (!lastUserText(request).endsWith('pay')) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: 'pay', input: {} }] }
}

async function bank() {
  let paid = 0
  const pay: Tool = {
    ...{ class: 'once', spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } } },
    async run() {
      paid++
      return 'paid'
    },
  }
  const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['bank'] }
  const house = await startApiHouse({
    ...{ script: paying, streaming: false, tools: { bank: [pay] }, routing: ADA, config: { agents: [agent] } },
  })
  const heard = (words: string) =>
    house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes(words) })
  house.telegram.world.say({ from: 111, text: 'hello' })
  await heard('fine')
  house.telegram.world.say({ from: 111, text: 'please pay' })
  const { text } = await heard('May I use')
  return { house, heard, paid: () => paid, code: /\/approve (\w+)/.exec(text)?.[1] ?? '' }
}

it('S7: an approval by the token of an owner is on record as that token’s, and counts', async () => {
  const { house, heard, paid, code } = await bank()
  const { id, headers } = await house.bearer({ owner: true, scopes: ['operate:write'] })
  const answer = await house.ask(`/v1/approvals/approve?code=${code}`, { method: 'POST', headers })
  expect([answer.status, answer.json]).toMatchObject([200, { decidedBy: `token:ply_${id}` }])
  await heard('it says: paid')
  expect(paid()).toBe(1)
})

it('F-H14: the operator and a token of another scope are told apart', async () => {
  const { house, paid, code } = await bank()
  const { headers } = await house.bearer({ owner: true, scopes: ['operate:read'] })
  expect((await house.ask(`/v1/approvals/approve?code=${code}`, { method: 'POST', headers })).status).toBe(403)
  expect(await house.daemon.operator.approvals.decide(code, 'deny')).toMatchObject({ decidedBy: 'operator' })
  expect(paid()).toBe(0)
})

it('S7: somebody let in by the token of an owner was let in by that token', async () => {
  const house = await startApiHouse({ routing: ADA })
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo hello' })
  house.telegram.world.say({ from: 555, text: 'let me in' })
  await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('telegram:555') })
  const { id, headers } = await house.bearer({ owner: true })
  const { json } = await house.ask('/v1/admissions/admit?name=telegram%3A555', { method: 'POST', headers })
  expect(json).toMatchObject({ key: 'telegram:555', state: 'admitted', decidedBy: `token:ply_${id}` })
  expect(await house.daemon.operator.admissions.list()).toMatchObject([{ decidedBy: `token:ply_${id}` }])
})

it('S7: what a token asks for is in the log before it is done, so that a kill behind it hides no change', async () => {
  const lines: unknown[][] = []
  const noted = (sentence: string, { by, method, route, status }: LogFields = {}) =>
    void (sentence.startsWith('A token') && lines.push([sentence, by, method, route, status]))
  const logger: Logger = { ...silentLogger, info: noted, child: () => logger }
  const whenDone: unknown[][] = []
  const fake = fakeOperator()
  const reload = async () => {
    whenDone.push(...lines)
    return fake.config.reload()
  }
  const { ask, bearer } = await apiRig({}, { logger, apiOf: () => ({ ...fake, config: { reload } }) })
  const { id, headers } = await bearer(['operate:write', 'sessions:write'])
  await ask('/v1/config/reload', { method: 'POST', headers })
  const asks = ['A token asks for a change', `token:ply_${id}`, 'POST', '/v1/config/reload', undefined]
  expect(whenDone).toEqual([asks])
  expect(lines).toEqual([asks, ['A token has asked for a change', ...asks.slice(1, 4), 200]])
  const text = { method: 'POST', headers, body: '{"text":"hi"}' }
  await ask('/v1/sessions/cli:notes/messages', text)
  // A text has a row before anybody answers it.
  expect(lines.slice(2).map((line) => line.slice(0, 2))).toEqual([
    ['A token has asked for a change', `token:ply_${id}`],
  ])
})
