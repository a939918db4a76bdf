import { createRoute } from '@hono/zod-openapi'
import type { OperatorService, StatusReport } from '../../core/operator.ts'
import { answers, newRoutes } from '../route.ts'

const HEALTH = createRoute({ method: 'get', path: '/healthz', responses: answers<{ readonly status: string }>() })
const STATUS = createRoute({ method: 'get', path: '/v1/status', responses: answers<StatusReport>() })

/** Serves `/healthz`, which answers as long as the process does, and `/v1/status`, which asks the parts. */
export function statusRoutes(service: OperatorService) {
  return newRoutes()
    .openapi(HEALTH, ({ json }) => json({ status: 'ok' }, 200))
    .openapi(STATUS, async ({ json }) => json(await service.status(), 200))
}
