import type { PaidModels } from '../budgets/paid-models.ts'
import type { Clock } from '../core/clock.ts'
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

/** Returns models whose answers are counted before anything is made of them, since they are paid for in any case. */
export function countedBeside(models: PaidModels, count: CountBeside): PaidModels {
  return async (id, charge) => {
    const model = await models(id, charge)
    return {
      id,
      async *stream(request, signal) {
        for await (const event of model.stream(request, signal)) {
          if (event.type === 'end') await count(event.usage)
          yield event
        }
      },
    }
  }
}
