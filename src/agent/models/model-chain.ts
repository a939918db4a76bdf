import { type ErrorCode, errorCode, ParleyError } from '../../core/errors.ts'
import type { Model } from '../../core/model.ts'

interface ModelChainDeps {
  /** May reject with `model_unconfigured`. */
  models(this: void, id: string): Promise<Model>
  /** Called after each call that ended, with the failure if there was one. */
  called(this: void, id: string, failure?: unknown): void
  /** Returns true for a model that failed a moment ago: one that may answer is asked before it. */
  rests?(this: void, id: string): boolean
  /** Returns true for a failure behind which the next model is asked; absent: where it is not of the request. */
  asksNext?(this: void, failure: unknown): boolean
  /** Called when the next model is asked in place of one that failed. */
  moved(this: void, from: string, to: string, failure: unknown): void
}

/** The models of one turn: the agent's own, then those that answer in its place. */
export interface ModelChain {
  /**
   * Makes a call with the model of the turn. Where it fails and `begun` is false, the next model is asked, in order,
   * and stays the model of the turn (C45). Throws what the last one threw.
   */
  call<Answer>(use: (model: Model) => Promise<Answer>, begun: () => boolean): Promise<Answer>
}

/** Failures that say something about the request: every other model would be asked the same. */
const OF_THE_REQUEST: readonly ErrorCode[] = ['model_refused', 'model_cut', 'model_context_length']

export function createModelChain(all: readonly string[], deps: ModelChainDeps): ModelChain {
  const rests = (id: string): boolean => deps.rests?.(id) ?? false
  const asksNext = deps.asksNext ?? isOfTheModel
  // In an outage people wait for the first model at one turn and not at each.
  const ids = [...all.filter((id) => !rests(id)), ...all.filter(rests)]
  let at = 0
  return {
    async call(use, begun) {
      for (;;) {
        const id = ids[at]
        if (id === undefined) throw new ParleyError('model_unconfigured', 'The agent has no model.')
        try {
          const answer = await use(await deps.models(id))
          deps.called(id)
          return answer
        } catch (error) {
          deps.called(id, error)
          const next = ids[at + 1]
          if (next === undefined || begun() || !asksNext(error)) throw error
          deps.moved(id, next, error)
          at++
        }
      }
    },
  }
}

function isOfTheModel(error: unknown): boolean {
  const code = errorCode(error)
  return code.startsWith('model_') && !OF_THE_REQUEST.includes(code)
}
