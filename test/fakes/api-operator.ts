import { ParleyError } from '../../src/core/errors.ts'
import type { McpServerReport } from '../../src/core/mcp.ts'
import type { DeliveryReport } from '../../src/core/operate-parts.ts'
import type { OperatorService, ServedOperator } from '../../src/core/operator.ts'

/** Answers what only programs ask for. */
export function fakeApi(asked: unknown[]): Omit<ServedOperator, Exclude<keyof OperatorService, 'parts'>> {
  return {
    hooks: {
      async receive({ name }) {
        asked.push({ hook: name })
        throw new ParleyError('not_found', `There is no hook ${name}.`)
      },
    },
    health: {
      ready: async () => ({
        status: 'degraded',
        channels: [{ channel: 'x', account: 'y', status: 'down' }],
        store: true,
      }),
      metrics: async () => ({ type: 'text/plain', text: '' }),
    },
    parts: {
      channels: async () => [],
      agents: async () => [],
      toolServers: async () => [sampleToolServer],
      budgets: async () => [],
      deliveries: async () => ({ deliveries: [] }),
    },
    nodes: {
      async post(id, post) {
        asked.push({ node: id, ...post })
        return { runId: 'run_1', traceId: 'tr_9', session: `node-${id}`, status: 'ok', reply: 'echo' }
      },
    },
  }
}

const sampleToolServer: McpServerReport = {
  ...{ server: 'files', agents: ['main'], status: 'down', tools: 3 },
  lastTrouble: { detail: 'it has ended\nwith 1', at: 0 },
}

export const sampleDelivery: DeliveryReport = {
  ...{ id: 'out_1', address: 'telegram:group:-1001', state: 'given_up', reason: 'timed out', traceId: 'tr_1' },
  ...{ class: 'reply', attempt: 2 },
}

/** Decides about the one delivery there is. */
export function fakeDecisions(asked: unknown[]): Pick<OperatorService['outbox'], 'retry' | 'drop'> {
  const decided = (verdict: string) => async (id: string) => {
    asked.push({ [verdict]: id })
    if (id !== sampleDelivery.id) throw new ParleyError('not_found', `There is no delivery ${id}.`)
    return sampleDelivery
  }
  return { retry: decided('retry'), drop: decided('drop') }
}
