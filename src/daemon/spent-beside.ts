import type { PaidModels } from '../budgets/paid-models.ts'
import type { Clock } from '../core/clock.ts'
import { errorCode } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { tokensOf, type Usage } from '../core/model.ts'
import type { Store } from '../store/store.ts'

interface BesideDeps {
  readonly store: Pick<Store, 'write'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Counts a call that no turn has made in the cost of the day. Never rejects, so that its answer is not lost. */
export type CountBeside = (this: void, usage: Usage) => Promise<void>

export function countBeside({ store, clock, logger }: BesideDeps): CountBeside {
  return async (usage) => {
    if (tokensOf(usage) === 0) return
    await store
      .write((tx) => tx.turns.spendBeside(clock.now(), usage))
      .catch((err: unknown) => logger.error('The cost of a call beside turns was not counted', { err }))
  }
}

interface CountedBeside {
  readonly count: CountBeside
  readonly logger: Logger
  /** True where whoever asks counts the answers. */
  readonly answered?: true
}

/**
 * Returns models whose answers are counted before anything is made of them, since they are paid for in any case, and so
 * are calls that end before their answer.
 */
export function countedBeside(models: PaidModels, { count, logger, answered }: CountedBeside): PaidModels {
  return async (id, charge) => {
    const model = await models(id, charge)
    return {
      id,
      async *stream(request, signal) {
        for await (const event of model.stream(request, signal)) {
          if (event.type === 'end' && !answered) await count(event.usage)
          if (event.type === 'broken' && tokensOf(event.usage) > 0) {
            const tokens = tokensOf(event.usage)
            logger.info('A call was ended before its answer', { model: id, tokens, code: errorCode(event.failure) })
            await count(event.usage)
          }
          yield event
        }
      },
    }
  }
}
