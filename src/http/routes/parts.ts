import { createRoute, z } from '@hono/zod-openapi'
import { DELIVERY_STATES } from '../../core/outbound.ts'
import { answersWith, needs, newRoutes, pathText, queryCount, queryText } from '../route.ts'
import { agents, budgets, channels, deliveries, delivery, toolServers } from '../schemas/parts.ts'

const security = needs('operate:read')
const params = z.object({ id: pathText })
const limit = queryCount.prefault('50')

const CHANNELS = createRoute({
  operationId: 'channel.list',
  summary: 'The channels, each with what it receives and its last trouble',
  method: 'get',
  path: '/v1/channels',
  security,
  responses: answersWith(channels),
})
const AGENTS = createRoute({
  operationId: 'agent.list',
  summary: 'The agents, with their models and the groups of tools that they may use',
  method: 'get',
  path: '/v1/agents',
  security,
  responses: answersWith(agents),
})
const TOOL_SERVERS = createRoute({
  operationId: 'mcp.list',
  summary: 'The tool servers, each with how it does and its last trouble',
  method: 'get',
  path: '/v1/mcp',
  security,
  responses: answersWith(toolServers),
})
const BUDGETS = createRoute({
  operationId: 'budget.list',
  summary: 'What was spent in the present periods, the fullest budget first',
  method: 'get',
  path: '/v1/budgets',
  security,
  request: { query: z.object({ limit }) },
  responses: answersWith(budgets),
})
const DELIVERIES = createRoute({
  operationId: 'delivery.list',
  summary: 'The parts of messages that were sent or are to be sent, the newest first',
  method: 'get',
  path: '/v1/deliveries',
  security,
  request: {
    query: z.object({
      ...{ limit, after: queryText.optional(), session: queryText.optional() },
      state: z.enum(DELIVERY_STATES, { error: `must be one of ${DELIVERY_STATES.join(', ')}` }).optional(),
    }),
  },
  responses: answersWith(deliveries),
})
const RETRY = createRoute({
  operationId: 'delivery.retry',
  summary: 'Sends a part that did not arrive once more, with the rest of its message',
  method: 'post',
  path: '/v1/deliveries/{id}/retry',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(delivery),
})
const DROP = createRoute({
  operationId: 'delivery.drop',
  summary: 'Ends a part that is owed still, or whose outcome is not known',
  method: 'post',
  path: '/v1/deliveries/{id}/drop',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(delivery),
})

/** Serves the parts of the daemon: its channels, agents, tool servers and budgets, and its deliveries page by page. */
export function partRoutes() {
  return newRoutes()
    .openapi(CHANNELS, async ({ json, var: { api } }) => json(await api.parts.channels(), 200))
    .openapi(AGENTS, async ({ json, var: { api } }) => json(await api.parts.agents(), 200))
    .openapi(TOOL_SERVERS, async ({ json, var: { api } }) => json(await api.parts.toolServers(), 200))
    .openapi(BUDGETS, async ({ req, json, var: { api } }) =>
      json(await api.parts.budgets(req.valid('query').limit), 200),
    )
    .openapi(DELIVERIES, async ({ req, json, var: { api } }) =>
      json(await api.parts.deliveries(req.valid('query')), 200),
    )
    .openapi(RETRY, async ({ req, json, var: { api, once } }) =>
      json(await api.outbox.retry(req.valid('param').id, once), 200),
    )
    .openapi(DROP, async ({ req, json, var: { api } }) => json(await api.outbox.drop(req.valid('param').id), 200))
}
