import { describe, expect, it } from 'vitest'
import { priceOf } from '../../src/core/prices.ts'
import { chooseAgent, refusedModel } from '../../src/sessions/service/choose-model.ts'
import { modelRules } from '../../src/sessions/service/session-rules.ts'
import { load, refusal, TELEGRAM } from './loading.ts'

const HOME = 'ollama: { kind: openai, baseUrl: "http://127.0.0.1:11434/v1" }'
const ROUTER = `router: { kind: openai, baseUrl: "https://openrouter.ai/api/v1", apiKey: "\${env:ROUTER_KEY}" }`

type Env = Readonly<Record<string, string>>

const loaded = async (yaml: string, env: Env = {}) => (await load(`${TELEGRAM}${yaml}\n`, env)).config
const withModels = (servers: string, env: Env = {}) => loaded(`models: { ${servers} }`, env)
const agentOn = (model: string, servers: string) =>
  refusal(`${TELEGRAM}models: { ${servers} }\nagents: [{ id: main, model: "${model}" }]`, { ROUTER_KEY: 'sk-r' })

describe('servers of models by name', () => {
  it('stand side by side, each with its kind, address and key', async () => {
    const { models, warnings } = await loaded(
      `models: { ${HOME}, ${ROUTER}, openai: { apiKey: "\${env:KEY}" }, local-claude: { kind: anthropic, baseUrl: "http://127.0.0.1:8000" } }\n` +
        'agents: [{ id: main, model: ollama/qwen3, fallback: [router/meta-llama/llama-4, openai/gpt-5.4, local-claude/glm] }]',
      { ROUTER_KEY: 'sk-router', KEY: 'sk-openai' },
    )

    expect(models).toMatchObject({
      ollama: { kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' },
      router: { kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1' },
      openai: { kind: 'openai' },
      'local-claude': { kind: 'anthropic', baseUrl: 'http://127.0.0.1:8000' },
    })
    expect(models.ollama).not.toHaveProperty('apiKey')
    expect([models.router?.apiKey?.reveal(), models.openai?.apiKey?.reveal()]).toEqual(['sk-router', 'sk-openai'])
    expect(warnings).toEqual([])
  })

  it('the keys of the environment belong to the two names alone', async () => {
    const { models } = await withModels(
      `${HOME}, work: { kind: openai, apiKey: own }, claude: { kind: anthropic, baseUrl: "http://127.0.0.1:1" }`,
      { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-ant' },
    )

    const keys = Object.entries(models).map(([name, { apiKey }]) => [name, apiKey?.reveal()])
    expect(Object.fromEntries(keys)).toEqual({
      ...{ ollama: undefined, work: 'own', claude: undefined },
      ...{ openai: 'sk-openai', anthropic: 'sk-ant' },
    })
  })

  it('the two names take their own kind, and anthropic may stand for a server without a key', async () => {
    const { models, warnings } = await loaded(
      'models: { openai: { kind: openai, apiKey: k }, anthropic: { kind: anthropic, baseUrl: "http://127.0.0.1:11434" } }\n' +
        'agents: [{ id: main, model: anthropic/qwen3 }]',
    )
    expect(models.anthropic).toEqual({ kind: 'anthropic', baseUrl: 'http://127.0.0.1:11434' })
    expect(models.openai?.kind).toBe('openai')
    expect(warnings.filter((one) => !one.includes('secret stands in the file'))).toEqual([])
  })

  it.each([
    ['ollama', 'openai', 'http://127.0.0.1:11434/v1/', 'http://127.0.0.1:11434/v1'],
    ['ollama', 'openai', 'http://127.0.0.1:11434/v1//', 'http://127.0.0.1:11434/v1'],
    ['router', 'openai', 'https://h.test/api/v1/chat/completions', 'https://h.test/api/v1'],
    ['router', 'openai', 'https://h.test/api/v1/chat/completions/', 'https://h.test/api/v1'],
    ['router', 'openai', 'https://h.test/api/v1/Chat/Completions', 'https://h.test/api/v1'],
    ['router', 'openai', 'https://h.test/v1/completions', 'https://h.test/v1'],
    ['router', 'openai', 'https://h.test/v1/responses', 'https://h.test/v1'],
    ['router', 'openai', 'https://h.test/chat/completions', 'https://h.test'],
    ['azure', 'openai', 'https://h.test/models', 'https://h.test/models'],
    ['claude', 'anthropic', 'https://h.test/v1/messages', 'https://h.test'],
    ['claude', 'anthropic', 'https://h.test/anthropic/v1', 'https://h.test/anthropic'],
    ['claude', 'anthropic', 'https://h.test/anthropic/messages/', 'https://h.test/anthropic'],
    ['claude', 'anthropic', 'https://h.test/anthropic/', 'https://h.test/anthropic'],
  ])('%s of kind %s at %s is asked at %s', async (name, kind, baseUrl, asked) => {
    const { models } = await withModels(`${name}: { kind: ${kind}, baseUrl: "${baseUrl}" }`)
    expect(models[name]?.baseUrl).toBe(asked)
  })

  it('a key that cannot be had now leaves the server there with the reason, and the agents their models', async () => {
    const { models, warnings, agents } = await loaded(
      `models: { ${ROUTER} }\nagents: [{ id: main, model: router/x/y }]`,
    )
    expect(models.router).toEqual({
      ...{ kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1' },
      keyAbsent: 'models.router.apiKey: the variable ROUTER_KEY is not set; set it or change the reference',
    })
    expect(warnings).toEqual([
      expect.stringMatching(/ROUTER_KEY is not set.*agents on models of router cannot answer$/),
    ])
    expect(agents[0]?.model).toBe('router/x/y')
    const rules = modelRules({ agents, models })
    expect(refusedModel(rules, 'main', 'router/z')).toMatch(/^models\.router has no key: set models\.router\.apiKey/)
  })

  it.each([
    [`anthropic: { apiKey: k }, ${HOME}`, 'anthropic/claude-sonnet-5-5'],
    ['work: { kind: anthropic, apiKey: k }, openai: { apiKey: k }', 'work/claude-sonnet-5-5'],
    ['work: { kind: openai, apiKey: k }, openai: { apiKey: k }', 'openai/gpt-5.4'],
    [`${HOME}, work: { kind: openai, apiKey: k }`, 'work/gpt-5.4'],
    [HOME, 'none'],
    ['anthropic: { baseUrl: "http://127.0.0.1:1" }', 'none'],
    ['anthropic: { baseUrl: "http://127.0.0.1:1", apiKey: k }', 'anthropic/claude-sonnet-5-5'],
  ])('with %s an agent that names no model has %s', async (servers, model) => {
    expect((await withModels(servers)).agents[0]?.model).toBe(model)
  })

  it('an agent that names no model of a server of its own has none, and is told how to write one', async () => {
    expect((await withModels(HOME)).warnings).toEqual([
      'agents[0].model: names no model, so the agent can only say that it has none; write ollama/<model> as models.ollama.baseUrl calls it',
    ])
  })

  it('a public API by another name has the same prices and window; one with an address has none', async () => {
    const { models, budgets, agents } = await loaded(
      `models: { work: { kind: openai, apiKey: k }, proxy: { kind: openai, apiKey: k, baseUrl: "https://h.test/v1" } }\n` +
        'agents: [{ id: main, model: work/gpt-5.4 }, { id: other, model: proxy/gpt-5.4 }]\n' +
        'budgets: { total: { day: { usd: 50 } }, prices: { work/gpt-5: { input: 7, output: 8 } } }',
    )
    expect(priceOf('work/gpt-5.4', budgets?.prices)).toEqual(priceOf('openai/gpt-5.4'))
    expect(priceOf('work/gpt-5.4-2026-03-05', budgets?.prices)).toEqual(priceOf('openai/gpt-5.4'))
    expect(priceOf('work/gpt-5', budgets?.prices)).toEqual({ input: 7, output: 8 })
    expect(priceOf('work/claude-sonnet-5', budgets?.prices)).toBeUndefined()
    expect(priceOf('proxy/gpt-5.4', budgets?.prices)).toBeUndefined()
    const agentOf = chooseAgent(modelRules({ agents, models }), { of: () => ({}) })
    const windows = agents.map(({ id }) => agentOf({ agentId: id } as Parameters<typeof agentOf>[0]).contextTokens)
    expect(windows).toEqual([272_000, undefined])
  })

  it('a model without a price is warned of by its whole name, with the price that was probably meant', async () => {
    const { warnings } = await loaded(
      `models: { ${HOME} }\nagents: [{ id: main, model: ollama/llama3 }]\n` +
        'budgets: { total: { day: { usd: 50 } }, prices: { ollama/llama-3: { input: 0, output: 0 } } }',
    )
    expect(warnings.join()).toMatch(/ollama\/llama3 has no price.*did you mean `ollama\/llama-3`/)
  })
})

describe('mistakes about servers of models', () => {
  it.each<readonly [servers: string, message: string]>([
    [
      'antropic: { apiKey: k }',
      'models.antropic.kind: is missing; it must be openai or anthropic, the API that the server speaks; did you mean `models.anthropic`?',
    ],
    [
      'ollama: { baseUrl: "http://127.0.0.1:1/v1" }',
      'models.ollama.kind: is missing; it must be openai or anthropic, the API that the server speaks: openai for Ollama, vLLM, LM Studio, OpenRouter and most others',
    ],
    [
      'ollama: { kind: ollama, baseUrl: "http://127.0.0.1:1/v1" }',
      'models.ollama.kind: must be openai or anthropic, the API that the server speaks: openai for Ollama,',
    ],
    [
      'home: { kind: OpenAI, baseUrl: "http://127.0.0.1:1/v1" }',
      'models.home.kind: must be openai or anthropic, the API that the server speaks; did you mean `openai`?',
    ],
    ['home: { kind: claude, apiKey: k }', 'models.home.kind: must be openai or anthropic'],
    ['home: { kind: 7, apiKey: k }', 'models.home.kind: must be openai or anthropic'],
    [
      'openai: { kind: anthropic, apiKey: k }',
      'models.openai.kind: must be openai under this name; give a server of another kind a name of its own',
    ],
    [
      'anthropic: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }',
      'models.anthropic.kind: must be anthropic under this name; give a server of another kind a name of its own',
    ],
    [
      'Ollama: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }',
      'models.Ollama: the name must be lower-case letters, digits and -, a letter first, such as ollama',
    ],
    [
      'OpenAI: { kind: openai, apiKey: k }',
      'models.OpenAI: the name must be lower-case letters, digits and -, a letter first, such as openai',
    ],
    ['lm_studio: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }', 'a letter first, such as lm-studio'],
    ['"LM Studio": { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }', 'a letter first, such as lm-studio'],
    ['gpt.local: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }', 'a letter first, such as gpt-local'],
    ['"router/x": { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }', 'a letter first, such as router-x'],
    [
      '4090: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }',
      'models.4090: the name must be lower-case letters, digits and -, a letter first',
    ],
    ['größe: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" }', 'a letter first, such as gr-e'],
    [
      'scripted: { kind: openai, apiKey: k }',
      'models.scripted: the name scripted stands for scripts; take another one',
    ],
    [
      'audio: { kind: openai, apiKey: k }',
      'models.audio: the name audio stands for the audio endpoint; take another one',
    ],
    ['anthropic: {}', 'models.anthropic: needs apiKey, or baseUrl for a server that needs no key'],
    ['home: { kind: openai }', 'models.home: needs apiKey, or baseUrl for a server that needs no key'],
    ['home: { kind: anthropic }', 'models.home: needs apiKey, or baseUrl for a server that needs no key'],
    ['home: { kind: openai, apiKey: "" }', 'models.home.apiKey: is empty; fill it in or leave the key out'],
    ['home: { kind: openai, apiKey: "   " }', 'models.home.apiKey: is empty; fill it in or leave the key out'],
    [
      'home: { kind: openai, apiKey: "canary\\ncanary" }',
      'models.home.apiKey: has a space, a line break or a letter that no key has',
    ],
    [
      'home: { kind: openai, apiKey: "canary…" }',
      'models.home.apiKey: has a space, a line break or a letter that no key has',
    ],
    [
      'home: { kind: openai, baseUrl: localhost:11434/v1 }',
      'models.home.baseUrl: must be an address that begins with http:// or https://',
    ],
    [
      'home: { kind: openai, baseUrl: "127.0.0.1:11434/v1" }',
      'models.home.baseUrl: must be an address that begins with http:// or https://',
    ],
    [
      'home: { kind: openai, baseUrl: "ws://127.0.0.1" }',
      'models.home.baseUrl: must be an address that begins with http:// or https://',
    ],
    ...['http://192.168.1.300:11434/v1', 'http://127.0.0.1:114344/v1', 'HTTPS://h test/v1', 'http://'].map(
      (address) =>
        [
          `home: { kind: openai, baseUrl: "${address}" }`,
          'models.home.baseUrl: is no valid address: check its host and its port',
        ] as const,
    ),
    ...['export HOME_API_KEY=canary', 'set X=canary', 'setx X canary'].map(
      (key) =>
        [`home: { kind: openai, apiKey: "${key}" }`, 'models.home.apiKey: begins with a command of a shell'] as const,
    ),
    ...['OPENROUTER_API_KEY=canary', 'openai_token = canary', 'KEY=canary'].map(
      (key) =>
        [`home: { kind: openai, apiKey: "${key}" }`, 'models.home.apiKey: begins with the name of a variable'] as const,
    ),
    ['home: { kind: openai, baseUrl: "" }', 'models.home.baseUrl: '],
    [
      'home: { kind: openai, baseUrl: "https://ada:canary@h.test/v1" }',
      'models.home.baseUrl: must have no name or password in it; use apiKey',
    ],
    [
      'home: { kind: openai, baseUrl: "https://h.test/v1?key=canary" }',
      'models.home.baseUrl: must end with its path: take out what follows ? or #',
    ],
    ['home: { kind: openai, baseUrl: "https://h.test/#/v1" }', 'models.home.baseUrl: must end with its path'],
    [
      'home: { kind: openai, base_url: "http://127.0.0.1" }',
      'unknown key `base_url` in models.home; did you mean `baseUrl`?',
    ],
    [
      'home: { kind: openai, baseURL: "http://127.0.0.1" }',
      'unknown key `baseURL` in models.home; did you mean `baseUrl`?',
    ],
    ['home: { kind: openai, url: "http://127.0.0.1" }', 'unknown key `url` in models.home; did you mean `baseUrl`?'],
    ['home: { kind: openai, key: canary }', 'unknown key `key` in models.home; did you mean `apiKey`?'],
    ['home: { type: openai, apiKey: k }', 'unknown key `type` in models.home; did you mean `kind`?'],
    ['home: { provider: openai, apiKey: k }', 'unknown key `provider` in models.home; did you mean `kind`?'],
    ['home: "http://127.0.0.1:1/v1"', 'models.home: must be a block of keys, not text; known: kind, apiKey, baseUrl'],
    [
      'openrouter: { kind: openai, apiKey: k }',
      'models.openrouter.baseUrl: is missing; write https://openrouter.ai/api/v1, or where your openrouter is',
    ],
    ['ollama: { kind: openai }', 'models.ollama.baseUrl: is missing; write http://127.0.0.1:11434/v1'],
    ['lm-studio: { kind: openai, apiKey: lm }', 'models.lm-studio.baseUrl: is missing; write http://127.0.0.1:1234/v1'],
    ['deepseek: { kind: anthropic, apiKey: k }', 'models.deepseek.baseUrl: is missing; write where your deepseek is'],
  ])('%s', async (servers, message) => {
    const told = await refusal(`${TELEGRAM}models: { ${servers} }`)
    expect(told).toContain(`parley.yaml:2: `)
    expect(told).toContain(message)
    expect(told).not.toContain('canary')
  })

  it.each(['Bearer canary', '"canary"', "'canary'", '`canary`', '“canary”', '<canary>'])(
    'a key is read without what was copied along with it: %s',
    async (apiKey) => {
      const models = `home: { kind: openai, apiKey: ${JSON.stringify(apiKey)}, baseUrl: "http://127.0.0.1:1/v1" }`
      const { config } = await load(`${TELEGRAM}models: { ${models} }`)
      expect(config.models.home?.apiKey?.reveal()).toBe('canary')
    },
  )

  it.each([
    ['olama/llama3', HOME, 'agents[0].model: models has no server olama; it has ollama; did you mean `ollama`?'],
    ['Ollama/llama3', HOME, 'models has no server Ollama; it has ollama; did you mean `ollama`?'],
    ['antropic/claude-x', HOME, 'models has no server antropic; it has ollama; did you mean `anthropic`?'],
    ['script/echo', HOME, 'models has no server script; it has ollama; did you mean `scripted`?'],
    [
      'meta-llama/llama-4',
      `${ROUTER}, ${HOME}`,
      'models has no server meta-llama; it has router, ollama; describe it there, or write <server>/meta-llama/llama-4 for a model of one of these',
    ],
    [
      'openrouter/meta-llama/llama-4',
      HOME,
      'models has no server openrouter; it has ollama; describe it there, with its baseUrl (https://openrouter.ai/api/v1)',
    ],
    ['constructor/x', HOME, 'models has no server constructor; it has ollama'],
    ['/llama3', HOME, 'agents[0].model: must be <server>/<model>'],
    ['ollama/', HOME, 'agents[0].model: must be <server>/<model>'],
    [
      'llama3',
      HOME,
      'agents[0].model: must be <server>/<model>, such as anthropic/claude-sonnet-5-5 or scripted/echo; the servers stand under models',
    ],
    ['llama3:8b', HOME, 'agents[0].model: must be <server>/<model>'],
    [
      'ollama/llama 3',
      HOME,
      'agents[0].model: has a space in it, which no name of a model has; write it as its server lists it',
    ],
    ['ollama / llama3', HOME, 'agents[0].model: has a space in it'],
  ])('the model %s with %s', async (model, servers, message) => {
    expect(await agentOn(model, servers)).toContain(message)
  })

  it.each([
    ['agents: [{ id: main, model: ollama/x, fallback: [olama/y] }]', 'agents[0].fallback[0]'],
    ['agents: [{ id: main, model: ollama/x, summaryModel: olama/y }]', 'agents[0].summaryModel'],
    ['agents: [{ id: main, model: ollama/x, models: [ollama/x, olama/y] }]', 'agents[0].models[1]'],
    ['workspaces: [{ name: a, model: olama/y }]', 'workspaces[0].model'],
    ['budgets: { cheaperModel: olama/y }', 'budgets.cheaperModel'],
    [
      'routing: { access: { groups: [{ who: public, precheck: { model: olama/y, ask: x } }] } }',
      'routing.access.groups[0].precheck.model',
    ],
  ])('%s names the place', async (line, path) => {
    const told = await refusal(`${TELEGRAM}models: { ${HOME} }\n${line}`)
    expect(told).toContain(
      `parley.yaml:3: ${path}: models has no server olama; it has ollama; did you mean \`ollama\`?`,
    )
  })
})
