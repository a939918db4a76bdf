import { expect, it } from 'vitest'
import { skillTools } from '../../../src/agent/tools/skill.ts'
import { agentWith, call, fakeModel, never, play, results, turnRequest } from '../turns.ts'

const skills = [{ name: 'trips', description: 'Plans a trip.', text: '# Trips' }]
const { agent } = turnRequest()

it('R35: the tool loads a skill of the agent by its name', async () => {
  const model = fakeModel(
    { calls: [call('a', 'skill', { name: 'trips' }), call('b', 'skill', { name: 'none' })] },
    { deltas: ['done'] },
  )
  const { journal } = await play(agentWith(model)(turnRequest({ agent: { ...agent, skills } }), never()))
  expect(model.requests[0]?.tools).toMatchObject([
    { name: 'skill', parameters: { properties: { name: { enum: ['trips'] } } } },
  ])
  expect(results(journal)).toMatchObject([
    { callId: 'a', content: '# Trips', isError: false },
    { callId: 'b', content: 'There is no skill "none"; yours are trips.', isError: true },
  ])
})

it('R35: an agent without skills has no such tool, and the tool of a list is made once', () => {
  expect([skillTools(), skillTools([])]).toEqual([[], []])
  expect(skillTools(skills)[0]).toBe(skillTools(skills)[0])
})
