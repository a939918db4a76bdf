import { askModel } from '../agent/models/ask-model.ts'
import { createModels } from '../agent/models/catalogue.ts'
import { createTraitBook } from '../agent/models/traits.ts'
import type { Config } from '../config/config.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { errorCode, ParleyError } from '../core/errors.ts'
import { silentLogger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type {
  Model,
  ModelRequest,
  ModelTrial,
  ModelTrialOutcome,
  TrialAnswer,
  TrialFailure,
  Usage,
} from '../core/model.ts'
import { modelRemedy } from '../core/model-remedy.ts'
import { pricesOf } from '../core/model-server.ts'
import { costOf, isFree, priceOf } from '../core/prices.ts'
import { createTextRedactor } from '../core/redact.ts'
import { useProxies } from '../platform/way-out.ts'
import { revealedServers } from './model-servers.ts'

/** The least that every server takes: some refuse fewer than 16 tokens, and a model that says one word writes one. */
export const FEWEST_TOKENS = 16

const MICROS = 1_000_000

/**
 * Asks a configured model one question as the daemon would, by its dialect and through its proxies, once and without a
 * store. Never throws: a refusal is an outcome with its remedy.
 */
export async function tryModel(
  config: Pick<Config, 'models' | 'budgets' | 'scriptFolder'>,
  id: string,
  trial: ModelTrial,
  clock: Clock = systemClock,
): Promise<ModelTrialOutcome> {
  const begun = clock.elapsed()
  const passed = (): number => Math.round(clock.elapsed() - begun)
  try {
    await useProxies()
    const model = once(await modelOf(config, id, clock))
    const { text, usage, model: answered } = await askWithin(model, trial)
    const clean = withoutKeys(config)
    return { ok: true, model: clean(answered), text: clean(text), ...costIn(config, id, usage), ms: passed() }
  } catch (error) {
    // A model that thinks may have used up so few tokens before its first word: it answers all the same.
    if (errorCode(error) === 'model_empty') return { ok: true, model: id, text: '', ms: passed() }
    return { ok: false, ...failureOf(id, error, trial), ms: passed() }
  }
}

function modelOf({ models, scriptFolder }: Pick<Config, 'models' | 'scriptFolder'>, id: string, clock: Clock) {
  const noFiles: Pick<MediaStore, 'read'> = {
    read: async () => {
      throw new ParleyError('not_found', 'A trial has no files.')
    },
  }
  const services = { clock, random: Math.random, logger: silentLogger, media: noFiles, traits: createTraitBook() }
  return createModels({ servers: revealedServers(models), scriptFolder }, services)(id)
}

/** Returns the model without its further tries, which last 20 s: a trial reports the first failure. */
function once(model: Model): Model {
  return {
    id: model.id,
    async *stream(request, signal) {
      for await (const event of model.stream(request, signal)) {
        if (event.type === 'failed') throw event.failure
        yield event
      }
    },
  }
}

/** A server may repeat in its answer the key that it was sent. */
function withoutKeys({ models }: Pick<Config, 'models'>): (text: string) => string {
  return createTextRedactor(Object.values(models).flatMap(({ apiKey }) => (apiKey ? [apiKey.reveal()] : [])))
}

function askWithin(model: Model, { question, maxTokens, withinMs, signal }: ModelTrial) {
  const late = AbortSignal.timeout(withinMs)
  const request: ModelRequest = {
    system: 'Answer in as few words as possible.',
    messages: [{ role: 'user', content: [{ type: 'text', text: question }] }],
    tools: [],
    maxTokens,
  }
  return askModel(model, request, { signal: signal ? AbortSignal.any([signal, late]) : late, show: () => {} })
}

function costIn(
  { models, budgets }: Pick<Config, 'models' | 'budgets'>,
  id: string,
  usage: Usage,
): Pick<TrialAnswer, 'usage' | 'usd'> {
  const counted = isFree(id) || usage.input + usage.output > 0
  const price = priceOf(id, { ...pricesOf(models), ...budgets?.prices })
  return {
    ...(counted ? { usage } : {}),
    ...(counted && price ? { usd: costOf(usage, price) / MICROS } : {}),
  }
}

/** The end of a message that says what to do, which begins with a verb and names a setting. */
const DO = /^(.+?)[.:] ((?:check|set|write) .*\bmodels\..*)$/is

function failureOf(id: string, error: unknown, { withinMs }: ModelTrial): Omit<TrialFailure, 'ok' | 'ms'> {
  const code = errorCode(error)
  if (code === 'aborted') {
    const says = `${id} gave no answer within ${withinMs / 1_000} s.`
    return { code: 'model_stalled', says, remedy: 'Look whether its server is busy or still loads it, then try again.' }
  }
  const said = error instanceof ParleyError ? error.message : 'The call failed in a way that nobody has foreseen.'
  const [, cause, remedy] = DO.exec(said) ?? []
  const advice = modelRemedy(code, id, '', 'Choose another model: parley init')
  if (cause === undefined || remedy === undefined) return { code, says: ended(said), remedy: advice }
  const does = code === 'model_auth' ? advice : ended(remedy.charAt(0).toUpperCase() + remedy.slice(1))
  return { code, says: ended(cause), remedy: does }
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
