import { resolve } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import type { MediaStore } from '../../core/media.ts'
import { type Model, NO_MODEL } from '../../core/model.ts'
import { SCRIPTED, type ServerAccess, serverOf, splitModel, whyUnusable } from '../../core/model-server.ts'
import { type RetryServices, retryModel } from './retry-model.ts'
import type { TraitBook } from './traits.ts'

/** The servers under `models` in the configuration, secrets resolved. */
export interface ModelSettings {
  readonly servers: Readonly<Record<string, ServerSettings>>
  /** The folder of the files in `scripted/<file>`; absent: the working folder. */
  readonly scriptFolder?: string
}

interface ServerSettings extends ServerAccess {
  readonly apiKey?: string
}

interface ModelServices extends RetryServices {
  /** Reads the files that messages name. */
  readonly media: Pick<MediaStore, 'read'>
  /** The traits of all models, which their adapters learn. */
  readonly traits: TraitBook
}

type ModelCatalogue = (id: string) => Promise<Model>

/**
 * Resolves `<server>/<model>` with a server of `models`, `scripted/echo` and `scripted/<file>`. The first slash ends
 * the server's name, the rest is sent unchanged. A model is made once and its package loaded only then. Rejects with
 * `model_unconfigured` and the remedy for an unknown server or a missing key, with `config` for a script that is not
 * valid; a failure is not remembered.
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
  const [name, model] = splitModel(id)
  if (id !== NO_MODEL && (name === '' || model === '')) {
    throw unconfigured(`"${id}" names no model; write <server>/<model>, scripted/echo or scripted/<file>.`)
  }
  if (name === SCRIPTED) return makeScripted(model, settings, services)
  const unusable = whyUnusable(id, settings.servers)
  const server = serverOf(settings.servers, name)
  if (unusable !== undefined || server === undefined) throw unconfigured(unusable ?? `"${id}" names no server.`)
  return retryModel(await adapterOf(server, { name, model, services }), services)
}

function unconfigured(words: string): ParleyError {
  return new ParleyError('model_unconfigured', words)
}

async function adapterOf(
  { kind, apiKey, baseUrl }: ServerSettings,
  { name, model, services }: { readonly name: string; readonly model: string; readonly services: ModelServices },
): Promise<Model> {
  const { clock, media, logger, traits } = services
  const options = {
    ...{ name, model, clock, media, logger, traits },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  }
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('./anthropic.ts')
      return createAnthropic(options)
    }
    case 'openai': {
      const { createOpenAi } = await import('./openai.ts')
      return createOpenAi(options)
    }
  }
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
