import { expect, it } from 'vitest'
import { type SessionId, toAgentId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import type { SessionOverrides } from '../../../src/core/session-settings.ts'
import { chooseAgent, refusedModel } from '../../../src/sessions/service/choose-model.ts'

const main = { id: toAgentId('main'), model: 'anthropic/a', prompt: '', tools: [] }
const tight = { ...main, id: toAgentId('tight'), models: ['anthropic/b'] }
const rules = {
  agents: [main, tight],
  servers: {
    anthropic: { kind: 'anthropic' as const, apiKey: 'k' },
    router: { kind: 'openai' as const, baseUrl: 'http://127.0.0.1:1/v1' },
    unset: { kind: 'openai' as const, baseUrl: 'http://127.0.0.1:1/v1', keyAbsent: 'NOT_SET is not set' },
  },
}

it.each([
  ['main', 'anthropic/a', undefined],
  ['main', 'anthropic/z', undefined],
  ['main', 'scripted/echo', undefined],
  ['main', 'router/meta-llama/llama-4', undefined],
  ['main', 'constructor/x', 'There is no server constructor that I may ask'],
  ['main', 'anthropic', 'A model is written <server>/<model>.'],
  ['main', 'anthropic/', 'A model is written'],
  ['main', 'anthropic/a\nb', 'A model is written'],
  [
    'main',
    'openai/gpt',
    'models.openai has no key: set models.openai.apiKey or OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none. Or write one of anthropic/<model>, router/<model>, scripted/echo.',
  ],
  [
    'main',
    'nope/x',
    'There is no server nope that I may ask; write one of anthropic/<model>, router/<model>, scripted/echo.',
  ],
  [
    'main',
    'qwen3',
    'A model is written <server>/<model>. Write one of anthropic/<model>, router/<model>, scripted/echo.',
  ],
  ['main', 'unset/x', 'models.unset has no key: set models.unset.apiKey'],
  ['tight', 'b', 'A model is written <server>/<model>. tight may use anthropic/a, anthropic/b'],
  ['main', 'scripted/../../etc/passwd', 'There is no server scripted that I may ask'],
  ['tight', 'anthropic/a', undefined],
  ['tight', 'anthropic/b', undefined],
  ['tight', 'anthropic/z', 'tight may use anthropic/a, anthropic/b'],
  ['gone', 'anthropic/z', undefined],
])('T37: agent %s and model %s', (agent, model, refusal) => {
  const answer = refusedModel(rules, agent, model)
  if (refusal === undefined) expect(answer).toBeUndefined()
  else expect(answer).toContain(refusal)
})

it('T37, K21: a session has its own model and thinking while the configuration allows them, else its agent as it is', () => {
  const agentOf = (agentId: string, overrides: SessionOverrides) =>
    chooseAgent(rules, { of: () => overrides })({ id: 's' as SessionId, agentId: toAgentId(agentId) } as Session)
  expect(agentOf('main', { model: 'anthropic/z', thinkingLevel: 'low' })).toMatchObject({
    model: 'anthropic/z',
    thinking: 'low',
  })
  expect(agentOf('tight', { model: 'anthropic/z' })).toEqual(tight)
  expect(agentOf('gone', {})).toEqual(main)
})

it('C1: a session keeps its agent, but for tools that the daemon no longer has', () => {
  const agentProfile = { ...main, prompt: 'Of then.', tools: ['time', 'gone'] }
  const agentOf = chooseAgent({ ...rules, toolGroups: ['time', 'sessions'] }, { of: () => ({}) })
  const session: Partial<Session> = { id: 's' as SessionId, agentId: main.id, agentProfile }
  expect(agentOf(session as Session)).toEqual({
    ...agentProfile,
    tools: ['time'],
  })
})

it('R11: of a model asked for with the message, the session’s and the agent’s the first that is allowed counts', () => {
  const agentOf = (asked?: string, model?: string) =>
    chooseAgent(rules, { of: () => (model === undefined ? {} : { model }) })(
      { id: 's' as SessionId, agentId: tight.id } as Session,
      asked,
    ).model
  expect(agentOf('anthropic/b', 'anthropic/a')).toBe('anthropic/b')
  expect(agentOf('anthropic/z', 'anthropic/b')).toBe('anthropic/b')
  expect(agentOf(undefined, 'anthropic/z')).toBe('anthropic/a')
})
