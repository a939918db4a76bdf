import { ParleyError } from '../core/errors.ts'
import type { DeliveryId, SessionId } from '../core/ids.ts'
import type { BudgetDesk } from '../core/operate-budgets.ts'
import type { ChannelStatus, DeliveryQuery, PartsOperator } from '../core/operate-parts.ts'
import { DELIVERY_STATES } from '../core/outbound.ts'
import type { Store } from '../store/store.ts'
import { deliveryReport } from './delivery-report.ts'
import type { ForPrograms } from './make-programs.ts'
import type { ModelHealth } from './model-health.ts'

export interface PartsDeps {
  readonly store: Pick<Store, 'read'>
  /** Throws `unavailable` without a daemon. */
  daemon(): Pick<ForPrograms, 'agents' | 'toolServers'> & {
    readonly modelHealth: Pick<ModelHealth, 'troubles'>
    readonly budgets: Pick<BudgetDesk<never>, 'all'> | undefined
  }
  channels(): readonly ChannelStatus[]
}

const MOST = 200

export function operateParts({ store, daemon, channels }: PartsDeps): PartsOperator {
  return {
    channels: async () => channels(),
    async agents() {
      const { agents, modelHealth } = daemon()
      const troubles = modelHealth.troubles()
      return agents.map(({ id, model, fallback = [], tools }) => {
        const used = [model, ...fallback]
        return { id, model, fallback, tools, troubles: troubles.filter((one) => used.includes(one.model)) }
      })
    },
    toolServers: async () => daemon().toolServers(),
    async budgets(limit) {
      checkLimit(limit)
      return (await daemon().budgets?.all(limit)) ?? []
    },
    async deliveries({ limit, after, state, session }: DeliveryQuery) {
      checkLimit(limit)
      if (after !== undefined && (await store.read.outbox.get(after as DeliveryId)) === undefined)
        throw new ParleyError('invalid', '"after" is not one that a page has given as next')
      const rows = await store.read.outbox.page({
        ...{ states: state === undefined ? DELIVERY_STATES : [state], limit: limit + 1 },
        ...{ session: session as SessionId | undefined, after: after as DeliveryId | undefined },
      })
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const deliveries = await Promise.all(shown.map((row) => deliveryReport(row, store.read)))
      return { deliveries, ...(rows.length > limit && last ? { next: last.id } : {}) }
    },
  }
}

function checkLimit(limit: number): void {
  if (limit < 1 || limit > MOST) throw new ParleyError('invalid', `limit must be 1 to ${MOST}`)
}
