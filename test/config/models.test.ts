import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { load, TELEGRAM, TOKEN, temporaryFolder } from './loading.ts'

describe('models of OpenAI and of servers that speak its API', () => {
  const models = (line: string, env: Readonly<Record<string, string>> = {}) => load(`${TELEGRAM}${line}\n`, env)

  test('the variable OPENAI_API_KEY is enough for an answer', async () => {
    const folder = temporaryFolder()
    const { config, secrets } = await loadConfig({
      env: { HOME: folder, TELEGRAM_BOT_TOKEN: TOKEN, OPENAI_API_KEY: 'sk-canary' },
      cwd: folder,
      catalogue,
    })

    expect(config.agents[0]?.model).toBe('openai/gpt-5.4')
    expect(config.models.openai?.apiKey?.reveal()).toBe('sk-canary')
    expect(config.warnings).toEqual([])
    expect(secrets).toContain('sk-canary')
  })

  test('a server of its own needs no key, and gets no key of OpenAI', async () => {
    const { config } = await models(
      'models: { openai: { baseUrl: "http://127.0.0.1:11434/v1" } }\nagents: [{ id: main, model: openai/qwen3 }]',
      { OPENAI_API_KEY: 'sk-canary' },
    )

    expect(config.models).toEqual({ openai: { kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' } })
    expect(config.warnings).toEqual([])
  })

  test('an agent that names no model of such a server has none, and one without a key cannot answer', async () => {
    const local = await models('models: { openai: { baseUrl: "http://127.0.0.1:1/v1" } }')
    const keyless = await models('agents: [{ id: main, model: openai/x }]')

    expect(local.config.agents[0]?.model).toBe('none')
    expect(local.config.warnings).toEqual([
      'agents[0].model: names no model, so the agent can only say that it has none; write openai/<model> as models.openai.baseUrl calls it',
    ])
    expect(keyless.config.warnings).toEqual([
      'agents[0].model: openai/x has no key and cannot answer; set models.openai.apiKey or OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none',
    ])
  })

  test('a key that cannot be had now leaves the agent its model', async () => {
    const { config } = await models(`models: { openai: { apiKey: "\${env:NOT_SET}" } }`)

    expect(config.agents[0]?.model).toBe('openai/gpt-5.4')
    expect(config.warnings).toEqual([expect.stringMatching(/NOT_SET.*agents on models of openai cannot answer$/)])
  })

  test("C45: the models of the chain are checked as the agent's own", async () => {
    const { config } = await models(
      'agents: [{ id: main, model: scripted/echo, fallback: [openai/x, scripted/none.json] }]',
    )
    expect(config.agents[0]?.fallback).toEqual(['openai/x', 'scripted/none.json'])
    expect(config.warnings).toEqual([
      'agents[0].fallback[0]: openai/x has no key and cannot answer; set models.openai.apiKey or OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none',
      expect.stringMatching(/^agents\[0\]\.fallback\[1\]: there is no script /),
    ])
    await expect(models('agents: [{ id: main, fallback: [gemini/x] }]')).rejects.toThrow(
      /agents\[0\]\.fallback\[0\]: models has no server gemini/,
    )
  })
})
