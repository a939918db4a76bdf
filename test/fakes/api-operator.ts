import { ParleyError } from '../../src/core/errors.ts'
import type { OperatorService, ServedOperator } from '../../src/core/operator.ts'

/** Answers what only programs ask for. */
export function fakeApi(asked: unknown[]): Omit<ServedOperator, keyof OperatorService> {
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
