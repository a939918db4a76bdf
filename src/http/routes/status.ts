import { createRoute } from '@hono/zod-openapi'
import type { StatusReport } from '../../core/operator.ts'
import { answers, needs, newRoutes } from '../route.ts'

const HEALTH = createRoute({
  method: 'get',
  path: '/healthz',
  security: [],
  responses: answers<{ readonly status: string }>(),
})
const STATUS = createRoute({
  method: 'get',
  path: '/v1/status',
  security: needs('operate:read'),
  responses: answers<StatusReport>(),
})

/** Serves `/healthz`, which answers as long as the process does, and `/v1/status`, which asks the parts. */
export function statusRoutes() {
  return newRoutes()
    .openapi(HEALTH, ({ json }) => json({ status: 'ok' }, 200))
    .openapi(STATUS, async ({ json, var: { api } }) => json(await api.status(), 200))
}
