import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { withoutLiterals } from '../../src/config/literal-secrets.ts'
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

/** Returns a configuration without its literal secrets, and the settings that were named for them. */
function cleaned(source: string): { readonly text: string; readonly named: readonly string[] } {
  const { text, replaced } = withoutLiterals(source, { folder: temporaryFolder(), secrets: ['known-secret'] })
  return { text, named: replaced.map(({ setting }) => setting) }
}

describe('withoutLiterals', () => {
  it.each<readonly [string, string, string]>([
    ['a variable of a tool server', 'tools: { mcp: { a: { command: x, env: { PLAIN: hunter } } } }', 'hunter'],
    [
      'a variable in several lines',
      'tools:\n  mcp:\n    a:\n      env:\n        A: |\n          hunter\n          two\n        B: /',
      'hunter',
    ],
    ['a long number', 'tools: { mcp: { a: { command: x, env: { PIN: 48211907331 } } } }', '48211907331'],
    ['an argument behind a flag', 'tools: { mcp: { a: { command: x, args: [--api-key, hunter] } } }', 'hunter'],
    ['an argument with its flag', 'tools: { mcp: { a: { command: x, args: ["--token=hunter"] } } }', 'hunter'],
    ['an argument by itself', 'hooks: { a: { on: turn_done, command: ./x, args: [aB3dE6gH9k] } }', 'aB3dE6gH9k'],
    [
      'a variable given to a container',
      'tools: { mcp: { a: { command: docker, args: [-e, "PAT=hunter"] } } }',
      'hunter',
    ],
    [
      'a header as an argument',
      'tools: { mcp: { a: { command: x, args: [--header, "A: Bearer hunter"] } } }',
      'hunter',
    ],
    ['a header', 'tools: { mcp: { a: { url: "https://h/mcp", headers: { X-A: hunter } } } }', 'hunter'],
    ['a query', 'tools: { mcp: { a: { url: "https://h/mcp?api_key=hunter" } } }', 'hunter'],
    ['a path like a token', 'tools: { mcp: { a: { url: "https://h/s/NjA1ZTk0YzctMGNk/mcp" } } }', 'NjA1ZTk0YzctMGNk'],
    ['the user of an address', 'models: { a: { baseUrl: "https://hunter@h/v1" } }', 'hunter'],
    ['a password with a slash', 'models: { a: { baseUrl: "https://u:hun/ter@h/v1" } }', 'hun/ter'],
    ['the address of a hook', 'hooks: { a: { on: turn_done, url: "https://h/services/T0/B0/hunter" } }', 'hunter'],
    ['a variable of a hook', 'hooks: { a: { on: turn_done, command: ./x, env: { A: hunter } } }', 'hunter'],
    ['a value beside a reference', `hooks: { a: { env: { A: "hunter\${env:B}" } } }`, 'hunter'],
    ['what an alias repeats', 'people: { ada: { name: &a hunter } }\nhooks: { a: { env: { A: *a } } }', 'hunter'],
  ])('%s is replaced by a reference and named', (_name, source, secret) => {
    const { text, named } = cleaned(source)
    expect(text).not.toContain(secret)
    expect(text).toMatch(/\$\{env:PARLEY_\w+\}/)
    expect(named).toHaveLength(1)
    expect(cleaned(text)).toEqual({ text, named: [] })
  })

  it.each([
    'tools: { mcp: { a: { command: npx, args: [-y, "@scope/server-files@1.2", /, --port, "8080", --transport, stdio] } } }',
    'tools: { mcp: { a: { command: docker, args: [run, -i, --rm, -e, A_TOKEN, ghcr.io/github/github-mcp-server] } } }',
    `tools: { mcp: { a: { command: x, args: [--header, "Authorization: Bearer \${env:A}"], env: { A: "\${env:A}" } } } }`,
    `tools: { mcp: { a: { url: "https://u:\${env:P}@h/mcp?key=\${env:K}&version=2024-10-21" } } } # of the notes, see docs`,
    `models: { a: { baseUrl: "http://127.0.0.1:11434/v1" } } # key: \${env:KEY}`,
    `hooks: { a: { on: turn_done, url: "\${env:ADDRESS}" } }`,
  ])('what is no secret stays: %s', (source) => {
    expect(cleaned(source)).toEqual({ text: source, named: [] })
  })

  it.each([
    '# env: { A: gh0123456789ab }',
    '# postgres://ada:hunter@h/db',
    '# password: hunter',
    '# it was known-secret once',
    '# Authorization: Bearer abcdefghijklmnop',
  ])(
    'a comment that may hold a secret is left out, and the text of a value that looks like one is not: %s',
    (comment) => {
      const source = `a: 1 ${comment}\n${comment}\nb: |\n  # a text\n`
      const { text, named } = cleaned(source)
      expect(text).toBe('a: 1 # [left out]\n# [left out]\nb: |\n  # a text\n')
      expect(named).toEqual(['a comment'])
    },
  )

  it('gives no two values the same name, nor that of a reference which is there', () => {
    const { text } = cleaned(`hooks: { a: { env: { "A-B": one, A_B: two, C: "\${env:PARLEY_HOOKS_A_ENV_A_B}" } } }`)
    expect(new Set(text.match(/\w+(?=\})/g)?.filter((name) => name.startsWith('PARLEY_'))).size).toBe(3)
  })
})
