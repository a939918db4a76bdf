import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createModels, type ModelSettings } from '../../src/agent/models/catalogue.ts'
import { createTraitBook } from '../../src/agent/models/traits.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { noMedia } from '../fakes/media.ts'
import { hastyClock } from './moved-clock.ts'

const modelsOf = (servers: ModelSettings['servers'], { scriptFolder = '', clock = hastyClock() as Clock } = {}) =>
  createModels(
    { servers, scriptFolder },
    { clock, random: () => 0.5, logger: silentLogger, media: noMedia, traits: createTraitBook() },
  )

const ANTHROPIC = { anthropic: { kind: 'anthropic', apiKey: 'k' } } as const

describe('models', () => {
  it('scripted/echo and anthropic/<model> are made under their ids, each once', async () => {
    const models = modelsOf(ANTHROPIC)
    expect((await models('scripted/echo')).id).toBe('scripted/echo')
    expect((await models('anthropic/some-model')).id).toBe('anthropic/some-model')
    expect(await models('anthropic/some-model')).toBe(await models('anthropic/some-model'))
  })

  it.each(['echo', '', '/x', 'anthropic/', 'openai/', 'scripted/'])(
    '%j is unconfigured and told what to write',
    async (id) => {
      await expect(modelsOf(ANTHROPIC)(id)).rejects.toThrow(
        expect.objectContaining({ code: 'model_unconfigured', message: expect.stringContaining('scripted/echo') }),
      )
    },
  )

  it.each(['acme/gpt', 'constructor/x', '__proto__/x', 'Anthropic/x'])(
    '%s is on no server, and told which there are',
    async (id) => {
      const [name] = id.split('/')
      await expect(modelsOf(ANTHROPIC)(id)).rejects.toThrow(
        expect.objectContaining({
          code: 'model_unconfigured',
          message: `models has no server ${name}; it has anthropic.`,
        }),
      )
    },
  )

  it.each([
    ['router', 'openai', 'meta-llama/llama-4'],
    ['home', 'openai', 'llama3:8b'],
    ['claude-proxy', 'anthropic', 'anthropic/claude-haiku-4.5'],
    ['constructor', 'anthropic', 'x'],
  ] as const)('the first slash ends the name of the server %s, of kind %s', async (name, kind, model) => {
    const models = modelsOf({ [name]: { kind, baseUrl: 'http://127.0.0.1:1/v1' } })
    expect((await models(`${name}/${model}`)).id).toBe(`${name}/${model}`)
  })

  it('a server whose key cannot be had is not asked without one', async () => {
    const keyAbsent = 'models.router.apiKey: the variable ROUTER_KEY is not set'
    const models = modelsOf({ router: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', keyAbsent } })
    await expect(models('router/x')).rejects.toThrow(`${keyAbsent}.`)
  })

  it('a missing key is unconfigured and names where to set it', async () => {
    await expect(modelsOf({})('anthropic/x')).rejects.toThrow(
      expect.objectContaining({ code: 'model_unconfigured', message: expect.stringContaining('ANTHROPIC_API_KEY') }),
    )
  })

  it('openai/<model> needs a key or a base URL, and names where to set them', async () => {
    for (const access of [{ apiKey: 'k' }, { baseUrl: 'http://127.0.0.1:1/v1' }]) {
      expect((await modelsOf({ openai: { kind: 'openai', ...access } })('openai/org/some-model')).id).toBe(
        'openai/org/some-model',
      )
    }
    await expect(modelsOf(ANTHROPIC)('openai/x')).rejects.toThrow(
      'models.openai has no key: set models.openai.apiKey or OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none.',
    )
  })

  it.each(['anthropic', 'openai'] as const)('a server of kind %s without a key is sent none', async (kind) => {
    const seen: IncomingHttpHeaders[] = []
    const server = createServer((request, response) => {
      seen.push(request.headers)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    process.env.ANTHROPIC_AUTH_TOKEN = 'canary'
    onTestFinished(() => void Reflect.deleteProperty(process.env, 'ANTHROPIC_AUTH_TOKEN'))

    const model = await modelsOf(
      { home: { kind, baseUrl: `http://127.0.0.1:${port}` } },
      { clock: systemClock },
    )('home/x')
    const events = model.stream({ system: '', messages: [], tools: [], maxTokens: 9 }, new AbortController().signal)
    await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow(/answered 400/)

    expect(seen).toHaveLength(1)
    expect(seen[0]).not.toHaveProperty('x-api-key')
    expect(seen[0]).not.toHaveProperty('authorization')
  })

  it('a script is found in its folder, and one that was missing is looked for again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-models-'))
    const models = modelsOf({}, { scriptFolder: folder })
    await expect(models('scripted/demo.yaml')).rejects.toThrow(expect.objectContaining({ code: 'config' }))
    await writeFile(join(folder, 'demo.yaml'), 'rules: [{ steps: [{ text: Hi }] }]')
    expect((await models('scripted/demo.yaml')).id).toBe('scripted/demo.yaml')
    await rm(folder, { recursive: true })
  })
})
