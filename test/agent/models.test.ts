import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createModels, type ModelSettings } from '../../src/agent/models/catalogue.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { noMedia } from '../fakes/media.ts'
import { hastyClock } from './moved-clock.ts'

const modelsOf = (settings: ModelSettings = {}) =>
  createModels(settings, { clock: hastyClock(), random: () => 0.5, logger: silentLogger, media: noMedia })

describe('models', () => {
  it('scripted/echo and anthropic/<model> are made under their ids, each once', async () => {
    const models = modelsOf({ anthropic: { apiKey: 'k' } })
    expect((await models('scripted/echo')).id).toBe('scripted/echo')
    expect((await models('anthropic/some-model')).id).toBe('anthropic/some-model')
    expect(await models('anthropic/some-model')).toBe(await models('anthropic/some-model'))
  })

  it.each(['acme/gpt', 'echo', '', 'anthropic/', 'openai/'])(
    '%j is unconfigured and told what to write',
    async (id) => {
      await expect(modelsOf({ anthropic: { apiKey: 'k' } })(id)).rejects.toThrow(
        expect.objectContaining({ code: 'model_unconfigured', message: expect.stringContaining('scripted/echo') }),
      )
    },
  )

  it('a missing key is unconfigured and names where to set it', async () => {
    await expect(modelsOf({ anthropic: { baseUrl: 'http://127.0.0.1' } })('anthropic/x')).rejects.toThrow(
      expect.objectContaining({ code: 'model_unconfigured', message: expect.stringContaining('ANTHROPIC_API_KEY') }),
    )
  })

  it('openai/<model> needs a key or a base URL, and names where to set them', async () => {
    for (const openai of [{ apiKey: 'k' }, { baseUrl: 'http://127.0.0.1:1/v1' }]) {
      expect((await modelsOf({ openai })('openai/org/some-model')).id).toBe('openai/org/some-model')
    }
    await expect(modelsOf({ anthropic: { apiKey: 'k' } })('openai/x')).rejects.toThrow(
      'openai/x needs a key: set models.openai.apiKey or the variable OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none.',
    )
  })

  it('a script is found in its folder, and one that was missing is looked for again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-models-'))
    const models = modelsOf({ scriptFolder: folder })
    await expect(models('scripted/demo.yaml')).rejects.toThrow(expect.objectContaining({ code: 'config' }))
    await writeFile(join(folder, 'demo.yaml'), 'rules: [{ steps: [{ text: Hi }] }]')
    expect((await models('scripted/demo.yaml')).id).toBe('scripted/demo.yaml')
    await rm(folder, { recursive: true })
  })
})
