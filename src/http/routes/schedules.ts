import { createRoute, z } from '@hono/zod-openapi'
import { answersWith, needs, newRoutes, queryCount } from '../route.ts'
import { schedules, slots, startedRun } from '../schemas/schedules.ts'

const params = z.object({ id: z.string() })
const LIST = createRoute({
  operationId: 'schedule.list',
  summary: 'The schedules',
  method: 'get',
  path: '/v1/schedules',
  security: needs('operate:read'),
  responses: answersWith(schedules),
})
const NEXT = createRoute({
  operationId: 'schedule.next',
  summary: 'The next times of a schedule',
  method: 'get',
  path: '/v1/schedules/{id}/next',
  security: needs('operate:read'),
  request: { params, query: z.object({ count: queryCount.prefault('5') }) },
  responses: answersWith(slots),
})
const RUN = createRoute({
  operationId: 'schedule.run',
  summary: 'Runs a schedule now',
  method: 'post',
  path: '/v1/schedules/{id}/run',
  security: needs('operate:write'),
  request: { params },
  responses: answersWith(startedRun),
})

/** Serves the schedules, the next slots of one, and runs one now; its id is percent-encoded. */
export function scheduleRoutes() {
  return newRoutes()
    .openapi(LIST, async ({ json, var: { api } }) => json(await api.schedules.list(), 200))
    .openapi(NEXT, async ({ req, json, var: { api } }) =>
      json(await api.schedules.next(req.valid('param').id, req.valid('query').count), 200),
    )
    .openapi(RUN, async ({ req, json, var: { api, once } }) =>
      json(await api.schedules.run(req.valid('param').id, once), 200),
    )
}
