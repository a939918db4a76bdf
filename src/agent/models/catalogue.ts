import { resolve } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import type { MediaStore } from '../../core/media.ts'
import type { Model } from '../../core/model.ts'
import { type RetryServices, retryModel } from './retry-model.ts'

/** The `models:` block of the configuration, secrets resolved. */
export interface ModelSettings {
  readonly anthropic?: { readonly apiKey?: string; readonly baseUrl?: string }
  /** A server at a base URL may need no key. */
  readonly openai?: { readonly apiKey?: string; readonly baseUrl?: string }
  /** The folder of the files in `scripted/<file>`; absent: the working folder. */
  readonly scriptFolder?: string
}

export interface ModelServices extends RetryServices {
  /** Reads the files that messages name. */
  readonly media: Pick<MediaStore, 'read'>
}

type ModelCatalogue = (id: string) => Promise<Model>

/**
 * Resolves `<provider>/<model>`: `anthropic/<model>`, `openai/<model>`, `scripted/echo`, `scripted/<file>`. A model is
 * made once and its package loaded only then. Rejects with `model_unconfigured` and the remedy for an unknown provider
 * or a missing key, with `config` for a script that is not valid; a failure is not remembered.
 */
export function createModels(settings: ModelSettings, services: ModelServices): ModelCatalogue {
  const made = new Map<string, Promise<Model>>()
  return (id) => {
    const known = made.get(id)
    if (known !== undefined) return known
    const model = makeModel(id, settings, services)
    made.set(id, model)
    model.catch(() => made.delete(id))
    return model
  }
}

async function makeModel(id: string, settings: ModelSettings, services: ModelServices): Promise<Model> {
  const [, provider, name] = /^([^/]+)\/(.+)$/.exec(id) ?? []
  if (provider === 'scripted' && name) return makeScripted(name, settings, services)
  if (provider === 'anthropic' && name) return makeAnthropic(name, settings, services)
  if (provider === 'openai' && name) return makeOpenAi(name, settings, services)
  throw new ParleyError(
    'model_unconfigured',
    `"${id}" names no model; write anthropic/<model>, openai/<model>, scripted/echo or scripted/<file>.`,
  )
}

const KEYS: Readonly<Record<string, string>> = {
  anthropic: 'set models.anthropic.apiKey or the variable ANTHROPIC_API_KEY.',
  openai:
    'set models.openai.apiKey or the variable OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none.',
}

/**
 * Returns in a sentence which key a model needs that is not set; undefined where none is missing. `configured` are the
 * providers that have what they need.
 */
export function missingKey(id: string, configured: readonly string[]): string | undefined {
  const [provider = ''] = id.split('/', 1)
  if (!Object.hasOwn(KEYS, provider) || configured.includes(provider)) return undefined
  return `${id} needs a key: ${KEYS[provider]}`
}

async function makeAnthropic(model: string, { anthropic }: ModelSettings, services: ModelServices): Promise<Model> {
  const { apiKey = '', baseUrl } = anthropic ?? {}
  checkKey(`anthropic/${model}`, apiKey !== '' ? ['anthropic'] : [])
  const { createAnthropic } = await import('./anthropic.ts')
  const { clock, media, logger } = services
  return retryModel(
    await createAnthropic({ apiKey, model, clock, media, logger, ...(baseUrl ? { baseUrl } : {}) }),
    services,
  )
}

async function makeOpenAi(model: string, { openai = {} }: ModelSettings, services: ModelServices): Promise<Model> {
  checkKey(`openai/${model}`, openai.apiKey || openai.baseUrl ? ['openai'] : [])
  const { createOpenAi } = await import('./openai.ts')
  const { clock, media } = services
  return retryModel(await createOpenAi({ ...openai, model, clock, media }), services)
}

function checkKey(id: string, configured: readonly string[]): void {
  const missing = missingKey(id, configured)
  if (missing !== undefined) throw new ParleyError('model_unconfigured', missing)
}

async function makeScripted(
  name: string,
  { scriptFolder = '' }: ModelSettings,
  { clock }: RetryServices,
): Promise<Model> {
  if (name === 'echo') return (await import('./scripted/echo.ts')).echoModel
  const { loadScript } = await import('./scripted/load-script.ts')
  const { playScript } = await import('./scripted/play-script.ts')
  return playScript(`scripted/${name}`, await loadScript(resolve(scriptFolder, name)), clock)
}
