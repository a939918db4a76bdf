import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { load, TOKEN, temporaryFolder } from './loading.ts'

test('C29: no model is shown a secret that stands in instructions or skills, and a warning names the text', async () => {
  const skill = '---\nname: bank\ndescription: Pays.\n---\nUse sk-canary-0123456789.'
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'skills', 'bank'), { recursive: true })
  writeFileSync(join(folder, 'skills', 'bank', 'SKILL.md'), skill)
  const { config } = await load(
    `
models: { anthropic: { apiKey: "\${env:KEY}" } }
agents: [{ id: main, prompt: agent.md, skills: "${folder}/skills" }]
channels: { telegram: { accounts: { default: { token: "\${file:token}" } } } }
`,
    { KEY: 'sk-canary-0123456789' },
    { 'agent.md': 'The key is sk-canary-0123456789.', token: TOKEN },
  )
  expect(config.agents[0]?.prompt).toBe('The key is [secret].')
  expect(config.agents[0]?.skills?.[0]?.text).toBe('Use [secret].')
  for (const path of ['agents[0].prompt', 'agents[0].skills'])
    expect(config.warnings).toContain(
      `${path}: a secret of this configuration stands in the text; the model is not shown it`,
    )
})
