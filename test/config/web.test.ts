import { expect, test } from 'vitest'
import { explainConfig } from '../../src/config/explain.ts'
import { load, TELEGRAM } from './loading.ts'

test('config explain names whose pages are read without asking, and the search service, but no key of it', async () => {
  const agents = 'agents: [{ id: main, model: scripted/echo, tools: [web] }]'
  const search = 'search: { provider: brave, apiKey: canary-canary }'
  const { config } = await load(`${TELEGRAM}${agents}\ntools: { web: { allowedHosts: [Docs.e.org], ${search} } }\n`)
  const { config: unset } = await load(`${TELEGRAM}${agents}\n`)

  const lines = explainConfig(config).filter((line) => line.startsWith('tools.web'))
  expect(lines[0]).toContain('a search of the turn has listed, and those of docs.e.org')
  expect(lines[1]).toBe('tools.web.search: brave')
  expect(config.web?.search?.apiKey?.reveal()).toBe('canary-canary')
  expect(JSON.stringify(config)).not.toContain('canary-canary')
  expect(explainConfig(unset)).toContain('tools.web.search: none')
})
