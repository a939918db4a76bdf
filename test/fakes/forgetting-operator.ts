import { NOTHING_FORGOTTEN } from '../../src/core/forgetting.ts'
import { toPersonId } from '../../src/core/ids.ts'
import type { ForgettingOperator } from '../../src/core/operate-forgetting.ts'

/** Notes what it is asked in `asked`. */
export function fakeForgetting(asked: unknown[]): ForgettingOperator {
  const limits = [{ rule: 'retention.days', days: 30, startsAt: 86_400_000, sessions: 2, events: 7 }]
  return {
    async forget(request) {
      asked.push({ forget: request })
      const counts = { ...NOTHING_FORGOTTEN, events: 3, sessions: 1 }
      const state = request.confirmed ? 'done' : 'planned'
      const receipt = {
        id: 'one',
        state,
        counts,
        platforms: {},
        backups: ['/data/parley.db.before-v2'],
        exports: [],
      } as const
      if (request.kind !== 'person') return receipt
      return { ...receipt, whose: { person: toPersonId('ada'), ids: ['telegram:111', 'discord:222'] } }
    },
    retention: async () => limits,
    runRetention: async () => limits,
  }
}
