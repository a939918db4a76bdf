import { createRoute } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes } from '../route.ts'
import { health, status } from '../schemas/status.ts'

const HEALTH = createRoute({
  operationId: 'health.show',
  summary: 'Says that the process is alive',
  method: 'get',
  path: '/healthz',
  security: [],
  responses: answersWith(health),
})
const STATUS = createRoute({
  operationId: 'status.show',
  summary: 'The daemon and its channels, models and deliveries',
  method: 'get',
  path: '/v1/status',
  security: needs('operate:read'),
  responses: answersWith(status),
})

/** Serves `/healthz`, which answers as long as the process does, and `/v1/status`, which asks the parts. */
export function statusRoutes() {
  return newRoutes()
    .openapi(HEALTH, ({ json }) => json({ status: 'ok' }, 200))
    .openapi(STATUS, async ({ json, var: { api } }) => json(await api.status(), 200))
}
