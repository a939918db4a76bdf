import { expect, it } from 'vitest'
import { createTraitBook } from '../../src/agent/models/traits.ts'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { reportServers } from '../../src/daemon/model-servers.ts'

const agent = (id: string, model: string, more: object = {}) => ({
  ...{ id: toAgentId(id), model, prompt: '', tools: [] },
  ...more,
})

const config = {
  agents: [
    agent('main', 'ollama/qwen3', { fallback: ['router/meta-llama/llama-4', 'scripted/echo'] }),
    agent('coder', 'olama/llama3', { summaryModel: 'ollama/small' }),
  ],
  models: {
    ollama: { kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' },
    router: { kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1', apiKey: new Secret('canary') },
    work: { kind: 'anthropic', apiKey: new Secret('canary') },
  },
} as const

it('each server has one report with its agents, those that are not configured too', () => {
  const reports = reportServers(config)

  expect(reports).toEqual([
    { name: 'ollama', kind: 'openai', host: '127.0.0.1:11434', agents: ['main', 'coder'], learnt: [], troubles: [] },
    { name: 'router', kind: 'openai', host: 'openrouter.ai', agents: ['main'], learnt: [], troubles: [] },
    { name: 'work', kind: 'anthropic', host: 'api.anthropic.com', agents: [], learnt: [], troubles: [] },
    { name: 'olama', agents: ['coder'], learnt: [], troubles: [] },
  ])
  expect(JSON.stringify(reports)).not.toContain('canary')
})

it('what was learnt and what fails is with its server, one failure of several models once', () => {
  const book = createTraitBook()
  book.of('router/meta-llama/llama-4').learn('no-temperature')
  book.of('router/meta-llama/llama-4').window = 131_072
  book.of('ollama/qwen3', ['no-tools']).has('no-tools')
  const refused = { code: 'model_auth', cause: 'openrouter.ai answered 401.', remedy: 'Set a valid key.' }
  const failed = { code: 'model_failed', cause: 'It broke off.', remedy: 'Look at it.' }
  const troubles = [
    { model: 'router/a', at: 3, ...refused },
    { model: 'router/b/c', at: 5, ...refused },
    { model: 'router/d', at: 4, ...failed },
    { model: 'scripted/x.yaml', at: 6, ...failed },
  ]

  const reports = reportServers(config, { learnt: book.learnt(), troubles })

  expect(reports.find(({ name }) => name === 'router')).toMatchObject({
    learnt: [{ model: 'meta-llama/llama-4', traits: ['takes no temperature', 'reads 131072 tokens at once'] }],
    troubles: [
      { models: ['a', 'b/c'], at: 5, ...refused },
      { models: ['d'], at: 4, ...failed },
    ],
  })
  expect(reports.find(({ name }) => name === 'ollama')).toMatchObject({ learnt: [], troubles: [] })
  expect(reports.at(-1)).toEqual({
    ...{ name: 'scripted', agents: ['main'], learnt: [] },
    troubles: [{ models: ['x.yaml'], at: 6, ...failed }],
  })
})
