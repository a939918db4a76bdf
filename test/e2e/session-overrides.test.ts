import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Reply, Script } from '../../src/rehearsal/anthropic/script.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'

async function tell(house: Household, text: string): Promise<string> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, text })
  return (await house.telegram.ledger.nextFromBot('sent', { after: mark })).text
}

/** Thinks and asks for the time where it may think, then answers. */
const thoughtful: Script = ({ messages, thinking }): Reply => {
  const waits = JSON.stringify(messages.at(-1)).includes('tool_result')
  if (waits) return textReply('it is late')
  const thought =
    thinking && thinking.type !== 'disabled' ? [{ type: 'thinking' as const, thinking: 'what time?' }] : []
  return { blocks: [...thought, { type: 'tool_use', name: 'current_time', input: {} }] }
}

const agent = (model: string) => ({
  agents: [{ id: toAgentId('main'), model: `anthropic/${model}`, prompt: 'You are Parley.', tools: ['time'] }],
})

it('T37: /think reaches the model as its API wants it, and its thoughts go back to it within the turn, and are shown to nobody', async () => {
  const house = await startHousehold({ streaming: false, script: thoughtful, config: agent('claude-haiku-4-5') })
  expect(await tell(house, '/think high')).toContain('Thinking is high here')
  expect(await tell(house, 'what time is it?')).toBe('it is late')
  const [first, second] = house.anthropic?.ledger.requests() ?? []
  expect(first).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 16384 } })
  expect(second?.messages.at(-2)?.content).toMatchObject([
    { type: 'thinking', thinking: 'what time?' },
    { type: 'tool_use' },
  ])
  const { events } = await house.daemon.operator.sessions.show('telegram:direct:111')
  expect(JSON.stringify(events)).not.toContain('what time?"')
  expect(await tell(house, '/think off')).toContain('off')
  await tell(house, 'and now?')
  const later = house.anthropic?.ledger.requests().slice(2) ?? []
  expect(later.map(({ thinking }) => thinking)).toEqual([undefined, undefined])
  expect(JSON.stringify(later[0]?.messages)).not.toContain('"thinking"')
})

it('T37: a model that thinks as it sees fit is told how hard', async () => {
  const house = await startHousehold({ streaming: false, script: thoughtful, config: agent('claude-sonnet-5-5') })
  await tell(house, '/think low')
  await tell(house, 'what time is it?')
  const [first, second] = house.anthropic?.ledger.requests() ?? []
  expect(first).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } })
  expect(second).toMatchObject({ thinking: { type: 'adaptive' } })
})

it('T37: /verbose shows the tool steps above the answer, in the chat alone, and takes them away again', async () => {
  const house = await startHousehold({ streaming: false, script: thoughtful })
  expect(await tell(house, '/verbose on')).toContain('on here')
  expect(await tell(house, 'what time is it?')).toBe('used current_time\n\nit is late')
  expect((await house.daemon.operator.sessions.show('telegram:direct:111')).preview).toBe('it is late')
  await tell(house, '/verbose off')
  expect(await tell(house, 'and now?')).toBe('it is late')
})

it('T37: /model changes who answers from the next turn on, over a restart, and refuses what there is no key for', async () => {
  const house = await startHousehold({ streaming: false, script: () => textReply('from the API') })
  expect(await tell(house, 'hello')).toBe('from the API')
  expect(await tell(house, '/model openai/gpt')).toContain('models.openai has no key: set models.openai.apiKey')
  expect(await tell(house, '/model nope/gpt')).toContain('There is no server nope that I may ask')
  expect(await tell(house, '/model gpt')).toContain('Write one of anthropic/<model>, scripted/echo.')
  expect(await tell(house, '/model scripted/echo')).toContain('scripted/echo answers here')
  await house.restart()
  expect(await tell(house, 'hello')).toBe('echo hello')
  expect(await tell(house, '/model')).toContain('The model here is scripted/echo')
  expect(await tell(house, '/model inherit')).toContain('configured model')
  expect(await tell(house, 'hello')).toBe('from the API')
})

it('T37: what is no level is answered with the levels there are', async () => {
  const house = await startHousehold()
  expect(await tell(house, '/think deeply')).toBe('One of off, low, medium, high, or inherit.')
  expect(await tell(house, '/verbose')).toContain('Showing my tool steps is not set here.')
})
