import { createRoute, z } from '@hono/zod-openapi'
import type { ScheduleSummary, StartedRun } from '../../core/operate-schedules.ts'
import type { OperatorService } from '../../core/operator.ts'
import { answers, newRoutes, queryCount } from '../route.ts'

const params = z.object({ id: z.string() })
const LIST = createRoute({ method: 'get', path: '/v1/schedules', responses: answers<readonly ScheduleSummary[]>() })
const NEXT = createRoute({
  method: 'get',
  path: '/v1/schedules/{id}/next',
  request: { params, query: z.object({ count: queryCount.prefault('5') }) },
  responses: answers<readonly number[]>(),
})
const RUN = createRoute({
  method: 'post',
  path: '/v1/schedules/{id}/run',
  request: { params },
  responses: answers<StartedRun>(),
})

/** Serves the schedules, the next slots of one, and runs one now; its id is percent-encoded. */
export function scheduleRoutes({ schedules }: OperatorService) {
  return newRoutes()
    .openapi(LIST, async ({ json }) => json(await schedules.list(), 200))
    .openapi(NEXT, async ({ req, json }) =>
      json(await schedules.next(req.valid('param').id, req.valid('query').count), 200),
    )
    .openapi(RUN, async ({ req, json }) => json(await schedules.run(req.valid('param').id), 200))
}
