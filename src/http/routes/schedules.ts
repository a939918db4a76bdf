import { createRoute, z } from '@hono/zod-openapi'
import type { ScheduleSummary, StartedRun } from '../../core/operate-schedules.ts'
import { answers, needs, newRoutes, queryCount } from '../route.ts'

const params = z.object({ id: z.string() })
const LIST = createRoute({
  method: 'get',
  path: '/v1/schedules',
  security: needs('operate:read'),
  responses: answers<readonly ScheduleSummary[]>(),
})
const NEXT = createRoute({
  method: 'get',
  path: '/v1/schedules/{id}/next',
  security: needs('operate:read'),
  request: { params, query: z.object({ count: queryCount.prefault('5') }) },
  responses: answers<readonly number[]>(),
})
const RUN = createRoute({
  method: 'post',
  path: '/v1/schedules/{id}/run',
  security: needs('operate:write'),
  request: { params },
  responses: answers<StartedRun>(),
})

/** Serves the schedules, the next slots of one, and runs one now; its id is percent-encoded. */
export function scheduleRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.schedules.list(), 200))
    .openapi(NEXT, async ({ req, json, var: { api } }) =>
      json(await api.schedules.next(req.valid('param').id, req.valid('query').count), 200),
    )
    .openapi(RUN, async ({ req, json, var: { api } }) => json(await api.schedules.run(req.valid('param').id), 200))
}
