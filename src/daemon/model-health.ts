import type { Clock } from '../core/clock.ts'
import { type ErrorCode, errorCode, ParleyError } from '../core/errors.ts'
import { NO_MODEL } from '../core/model.ts'
import { modelRemedy } from '../core/model-remedy.ts'
import type { ModelServerReport, ModelTrouble } from '../core/operate-parts.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'

/** The models that fail, by their last calls. In memory: a start forgets it. */
export interface ModelHealth {
  /** Called after each call of a model by its name, with the failure if there was one. */
  called(this: void, model: string, failure?: unknown): void
  /** Returns true if the model's last call failed within the last minute. */
  rests(this: void, model: string): boolean
  /** Returns the models whose last call failed. */
  troubles(this: void): readonly ModelTrouble[]
}

export interface ServerWatch {
  /** Returns how each server of models does now. */
  servers(this: void): readonly ModelServerReport[]
}

export interface ModelHealthDeps {
  readonly clock: Clock
  /** The account from which owners are notified, the first one; if there is none, nobody is notified. */
  readonly where: AccountAt | undefined
  notify(notice: { readonly where: AccountAt; readonly notice: OwnerNotice }): void
  /** For each model that cannot be called as it is configured, a sentence about what is missing. */
  readonly unconfigured: ReadonlyMap<string, string | undefined>
}

/** Failures that do not end by themselves. */
const LASTING: readonly ErrorCode[] = ['model_auth', 'model_no_credit', 'model_unconfigured']
/** For so long a model that failed is asked behind those that may answer in its place. */
const REST_MS = 60_000
/** Failures of one request, which predict nothing about the next. */
const OF_ONE_REQUEST: readonly ErrorCode[] = [
  ...(['model_refused', 'model_empty', 'model_cut', 'model_context_length', 'model_bad_call'] as const),
]

/** Keeps the last failure of each model, and notifies the owners of a lasting one. */
export function createModelHealth({ clock, where, notify, unconfigured }: ModelHealthDeps): ModelHealth {
  const code = 'model_unconfigured'
  const at = clock.now()
  const troubles = new Map<string, ModelTrouble>(
    [...unconfigured].flatMap(([model, cause]) =>
      cause === undefined ? [] : [[model, { model, at, code, cause, remedy: modelRemedy(code, model, cause) }]],
    ),
  )
  return {
    called(model, cause) {
      if (model === NO_MODEL) return
      if (cause === undefined) troubles.delete(model)
      const code = errorCode(cause)
      if (!code.startsWith('model_') || OF_ONE_REQUEST.includes(code)) return
      const words = wordsOf(cause)
      const trouble = { model, at: clock.now(), code, cause: words, remedy: modelRemedy(code, model, words) }
      troubles.set(model, trouble)
      if (!LASTING.includes(code) || where === undefined) return
      const text = `The model ${model} cannot answer: ${trouble.cause} ${trouble.remedy}`
      notify({ where, notice: { about: `model:${model}`, text } })
    },
    rests: (model) => {
      const since = clock.now() - (troubles.get(model)?.at ?? Number.NEGATIVE_INFINITY)
      return since >= 0 && since < REST_MS
    },
    troubles: () => [...troubles.values()],
  }
}

/** The remedy says more of a key than the words of the failure do. */
const OF_KEY = / Check models\.[^. ]+\.apiKey\.$/

function wordsOf(cause: unknown): string {
  const said = cause instanceof ParleyError ? cause.message : 'the call failed; the log has the cause'
  const words = said.replace(OF_KEY, '')
  return /[.!?]$/.test(words) ? words : `${words}.`
}
